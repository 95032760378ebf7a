# frozen_string_literal: true

# Implements `property` in class bodies, and the methods that list a class's properties.

require_relative "../property"

class Chef
  module Mixin
    module Properties
      include ParamsValidate

      # The methods of the class.
      module ClassMethods
        def properties(with_inherited = true)
          return @properties ||= {} unless with_inherited

          # The cached list is valid until any class gets a property.
          newest = Properties.version
          return @all_properties if @all_properties_version == newest

          @all_properties_version = newest
          @all_properties = ancestors.reverse_each.with_object({}) do |one, all|
            all.merge!(one.properties(false)) if one.respond_to?(:properties)
          end
        end

        def property(name, type = NOT_PASSED, **options)
          name = name.to_sym
          options = options.transform_keys(&:to_sym)
          options[:instance_variable_name] = :"@#{name}" unless options.key?(:instance_variable_name)
          options[:name] = name
          options[:declared_in] = self
          property = derive_property(name, type, options)
          properties(false)[name] = property
          Properties.version += 1
          property.emit_dsl
        end
        alias attribute property

        def property_type(**options) = Property.derive(**options)
        def deprecated_property_alias(from, to, message) = Property.emit_deprecated_alias(from, to, message, self)
        def lazy(&) = DelayedEvaluator.new(&)

        def state_properties(*names)
          mark(:desired_state, names) unless names.empty?
          properties.each_value.select(&:desired_state?)
        end

        def identity_properties(*names)
          mark(:identity, names) unless names.empty?
          found = properties.each_value.select(&:identity?)
          return found unless found.empty?

          [properties[name_property || :name]].compact
        end

        def sensitive_properties = properties.each_value.select(&:sensitive?)
        def name_property = properties.each_value.find(&:name_property?)&.name

        private

        def derive_property(name, type, options)
          if NOT_PASSED.equal?(type)
            inherited = properties[name]
            inherited ? inherited.derive(**options) : property_type(**options)
          elsif type.is_a?(Property) || (type.is_a?(Class) && type <= Property)
            type.derive(**options)
          else
            options[:is] = options[:is] ? [type, options[:is]].flatten : type
            property_type(**options)
          end
        end

        # Sets an option for these properties and clears it for all others.
        def mark(option, names)
          names = names.map(&:to_sym).uniq
          has = option == :identity ? :identity? : :desired_state?
          names.each do |name|
            known = properties[name]
            if known.nil? then property(name, instance_variable_name: false, option => true)
            elsif !known.public_send(has) then property(name, option => true)
            end
          end
          others = option == :identity ? properties : properties(false)
          others.to_a.each { |name, one| property(name, option => false) if one.public_send(has) && !names.include?(name) }
        end
      end

      @version = 0

      class << self
        # Increases with each property of any class.
        attr_accessor :version

        def included(other) = other.extend(ClassMethods)
      end

      def property_is_set?(name) = known_property(name).set?(self)
      def reset_property(name) = known_property(name).reset(self)
      def property_description(name) = known_property(name).description

      def copy_properties_from(other, *names, exclude: [:name])
        names = other.class.properties.keys if names.empty?
        (names - exclude).each { |name| send(name, other.send(name)) if other.property_is_set?(name) }
        self
      end

      private

      def known_property(name)
        self.class.properties[name.to_sym] or raise ArgumentError, "Property #{name} is not defined in class #{self}"
      end
    end
  end
end
