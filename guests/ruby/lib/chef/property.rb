# frozen_string_literal: true

# `property`: one value of a resource, with its checks and its default.

require_relative "mixin/params_validate"

class Chef
  class Property
    # Options that are not checks of values.
    OTHER_OPTIONS = %i[
      declared_in name instance_variable_name desired_state identity default name_property coerce required nillable
      sensitive description introduced deprecated default_description skip_docs validation_message
    ].freeze

    # The number of texts that a property remembers as checked, and the longest of them in bytes.
    REMEMBERED = 64
    REMEMBERED_BYTES = 64
    private_constant :REMEMBERED, :REMEMBERED_BYTES

    attr_reader :options, :name

    def self.derive(**options) = new(**options)

    # Defines the old name of a property. The method warns and then calls the new name.
    def self.emit_deprecated_alias(from, to, message, type)
      type.define_method(from) do |value = NOT_PASSED|
        Chef.deprecated(:property, message)
        NOT_PASSED.equal?(value) ? send(to) : send(to, value)
      end
      type.define_method(:"#{from}=") do |value|
        Chef.deprecated(:property, message)
        send(:"#{to}=", value)
      end
    end

    def initialize(**options)
      @options = with_one_name_option(options)
      @name = @options[:name] = @options[:name].to_sym if @options[:name]
      forbid_two_defaults
      @options[:desired_state] = false if @options[:name_property] && !@options.key?(:desired_state)
      @slot = slot_of(@options)
      @has_default = @options.key?(:default) || @options[:name_property]
      @required = @options[:required]
      @coercion = @options[:coerce]
      @own_message = @options[:validation_message]
      # An unknown option is reported only when a value is checked.
      known = Wrun::Resources::Checks::NAMES
      @checks = validation_options.map { |check, told| known.include?(check) ? [check, told] : [:unknown, check] }
      # Going through a hash costs more here than through an array.
      @checks.map! { |check, told| [check, check == :callbacks && told.is_a?(Hash) ? told.to_a : told] }
      @classes = classes_that_fit
      store_default
    end

    def declared_in = @options[:declared_in]
    def description = @options[:description]
    def introduced = @options[:introduced]
    def default_description = @options[:default_description]
    def equal_to = @options[:equal_to]
    def instance_variable_name = @slot
    def identity? = @options[:identity]
    def desired_state? = @options.fetch(:desired_state, true)
    def name_property? = @options[:name_property]
    def has_default? = @has_default # rubocop:disable Naming/PredicateName -- Chef's name
    def sensitive? = @options.fetch(:sensitive, false)
    def skip_docs? = @options.fetch(:skip_docs, false)
    def validation_options = @options.except(*OTHER_OPTIONS)
    def to_s = "#{name || "<property type>"}#{" of resource #{declared_in.resource_name}" if declared_in}"

    def default
      return @options[:default] if @options.key?(:default)

      DelayedEvaluator.new { name } if name_property?
    end

    def required?(action = nil)
      return !!@required unless action && @required.is_a?(Array)

      (@required & Array(action)).any?
    end

    # A property like this one, with other options.
    def derive(**more)
      options = @options
      if more.key?(:default) || more.key?(:name_property) || more.key?(:name_attribute)
        options = options.reject { |key, _| %i[name_property default].include?(key) }
      end
      self.class.new(**options, **more)
    end

    # Reads the property for `name`, and sets it for `name value`.
    def call(resource, value = NOT_PASSED)
      NOT_PASSED.equal?(value) ? get(resource) : set(resource, value)
    end

    def get(resource)
      return @stored_default if @default_is_plain && !@required && @slot && !resource.instance_variable_defined?(@slot)

      value = set?(resource) ? given(resource) : default_for(resource)
      refuse_missing(resource) if @required && value.nil?
      value
    end

    def set(resource, value)
      return store(resource, value) if needs_no_check?(value)

      value = default if value.nil? && !explicitly_accepts_nil?(resource)
      value = coerce_and_check(resource, value) unless value.is_a?(DelayedEvaluator)
      remember(value) if @passed
      store(resource, value)
      Chef.deprecated(:property, @options[:deprecated]) if @options.key?(:deprecated)
      refuse_missing(resource) if @required && value.nil?
      value
    end

    def set?(resource) = @slot ? resource.instance_variable_defined?(@slot) : true
    alias is_set? set?

    # Returns the stored value. A lazy value is returned without evaluation.
    def raw(resource) = resource.instance_variable_get(@slot)

    def reset(resource)
      raise ArgumentError, "Property #{name} has no instance variable defined and cannot be reset" unless @slot
      return unless set?(resource)

      resource.remove_instance_variable(@slot)
      resource.wrun_cleared(self) if resource.respond_to?(:wrun_cleared)
    end

    def coerce(resource, value) = @coercion && !value.nil? ? exec(resource, @coercion, value) : value

    def validate(resource, value)
      check(resource, name || :property_type, value) if !value.nil? || @has_default
    end

    # Runs all checks on a value. Error messages show the given name, and the value unless the property is sensitive.
    def check(resource, name, value)
      checks = Wrun::Resources::Checks
      message = own_message(resource)
      @checks.each { |kind, told| checks.public_send(kind, resource, name, value, told, message) }
    rescue Exceptions::ValidationFailed => error
      # A default is checked without a resource, which would say that the property is sensitive.
      sensitive? ? raise(checks.hidden(error), cause: nil) : raise
    end

    def explicitly_accepts_nil?(_resource = nil)
      return @accepts_nil unless @accepts_nil.nil?

      @accepts_nil = @options.key?(:coerce) || (@options.key?(:is) && fits_nil?)
    end

    # Gives a class the methods that read and set this property.
    def emit_dsl
      return unless @slot

      refuse_redefinition
      skip_repeated_checks
      property = self
      name = @name
      declared_in.define_method(name) do |value = NOT_PASSED, &block|
        property.refuse_block(self) if block
        NOT_PASSED.equal?(value) ? property.get(self) : property.set(self, value)
      end
      declared_in.define_method(:"#{name}=") { |value| property.set(self, value) }
    end

    def refuse_block(resource)
      raise "Property `#{name}` of `#{resource}` was incorrectly passed a block. Possible property-resource collision. " \
            "To call a resource named `#{name}` either rename the property or else use " \
            "`declare_resource(:#{name}, ...)`"
    end

    private

    def with_one_name_option(options)
      options = options.transform_keys(&:to_sym)
      return options unless options.key?(:name_attribute)

      if options.key?(:name_property)
        raise ArgumentError, "name_attribute and name_property are functionally identical and both cannot be specified " \
                             "on a property at once. Use just one on property #{options[:name]}"
      end
      options[:name_property] = options.delete(:name_attribute)
      options
    end

    def forbid_two_defaults
      return unless @options.key?(:default) && @options.key?(:name_property)

      raise ArgumentError, "A property cannot be both a name_property/name_attribute and have a default value. " \
                           "Use one or the other on property #{self}"
    end

    def slot_of(options)
      return options[:instance_variable_name]&.to_sym || nil if options.key?(:instance_variable_name) && options[:instance_variable_name]
      return if options.key?(:instance_variable_name)

      @name && :"@#{@name}"
    end

    # Returns the author's own error message. As in Chef, only the first resource with a checked value gets it. If the default was
    # checked at the declaration, no resource gets it.
    def own_message(resource)
      return unless @own_message

      @first_checked = resource unless defined?(@first_checked)
      @own_message if @first_checked.equal?(resource)
    end

    # Returns the accepted classes if the type is the only check. A value of exactly such a class needs no further check.
    def classes_that_fit
      return unless @checks.size == 1 && @checks[0][0] == :is && @own_message.nil?

      Array(@checks[0][1]).grep(Class)
    end

    # Coerces and checks the default once, at its declaration, if this needs no resource.
    def store_default
      value = default
      freeze_deeply(value) unless value.is_a?(DelayedEvaluator)
      @stored_default = value.is_a?(DelayedEvaluator) ? value : coerce_and_check(nil, value)
      @default_is_stored = true
      @default_is_plain = @stored_default.nil? || true.equal?(@stored_default) || false.equal?(@stored_default) ||
                          @stored_default.is_a?(Symbol) || @stored_default.is_a?(Numeric)
    rescue Exceptions::CannotValidateStaticallyError
      @default_is_stored = false
    end

    def freeze_deeply(value)
      case value
      when Hash then value.each_value { |one| freeze_deeply(one) }
      when Array then value.each { |one| freeze_deeply(one) }
      end
      value.freeze
    end

    # Prepares `needs_no_check?`. A property without its own variable, with a coercion or with a warning is never skipped.
    def skip_repeated_checks
      return if @slot.nil? || @coercion || @options.key?(:deprecated)

      @plain_classes = @classes - [NilClass] if @classes
      @passed = {} if Wrun::Resources::Checks.repeatable?(@checks, @own_message)
    end

    # Returns true for a value of a class that needs no check, and for a text that has passed the checks before: cookbooks use
    # the same owner and mode for most resources.
    def needs_no_check?(value)
      @plain_classes&.include?(value.class) || (@passed && value.instance_of?(String) && @passed.key?(value))
    end

    # Remembers a text that has passed the checks. The limits only save memory.
    def remember(value)
      @passed[value] = true if value.instance_of?(String) && value.bytesize <= REMEMBERED_BYTES && @passed.size < REMEMBERED
    end

    def given(resource)
      value = @slot ? resource.instance_variable_get(@slot) : resource.send(@name)
      value.is_a?(DelayedEvaluator) ? coerce_and_check(resource, exec(resource, value)) : value
    end

    # Stores a mutable default in the resource, so that the next read sees changes made in place.
    def default_for(resource)
      return unless @has_default

      value = @default_is_stored ? @stored_default : coerce_and_check(resource, default)
      return value if @default_is_plain

      if value.is_a?(DelayedEvaluator)
        value = coerce_and_check(resource, exec(resource, value))
      else
        value = copy_deeply(value)
      end
      resource.instance_variable_set(@slot, value) if @slot && !value.nil? && !value.frozen?
      value
    end

    def copy_deeply(value)
      case value
      when Hash then value.class == Hash ? value.transform_values { |one| copy_deeply(one) } : value.dup
      when Array then value.map { |one| copy_deeply(one) }
      when Module, Proc, Method, Regexp then value
      else value.dup
      end
    end

    def store(resource, value)
      return resource.send(@name, value) unless @slot

      resource.instance_variable_set(@slot, value)
      resource.wrun_changed(self, value) if resource.instance_variable_defined?(:@wrun_id)
      value
    end

    def coerce_and_check(resource, value)
      value = exec(resource, @coercion, value) if @coercion && !value.nil?
      return value if @classes&.include?(value.class)

      check(resource, @name || :property_type, value) if !@checks.empty? && (!value.nil? || @has_default)
      value
    end

    def exec(resource, block, *arguments)
      raise Exceptions::CannotValidateStaticallyError, "Cannot validate or coerce without a resource" unless resource

      block.arity > arguments.size ? block.call(resource, *arguments) : resource.instance_exec(*arguments, &block)
    end

    def fits_nil?
      Wrun::Resources::Checks.is(nil, name, nil, @options[:is], nil)
      true
    rescue Exceptions::ValidationFailed, Exceptions::CannotValidateStaticallyError
      false
    end

    def refuse_missing(resource)
      action = resource.respond_to?(:action) ? resource.action : nil
      raise Exceptions::ValidationFailed, "#{name} is a required property" if required?(action)
    end

    # Raises an error if the property would hide a method of every object or resource.
    def refuse_redefinition
      return unless declared_in.method_defined?(@name)

      owner = declared_in.instance_method(@name).owner
      return unless [Object, BasicObject, Kernel, Chef::Resource].include?(owner)
      return if Chef::Resource.properties.key?(@name)

      type = declared_in.respond_to?(:resource_name) ? declared_in.resource_name : declared_in
      raise ArgumentError, "Property `#{name}` of resource `#{type}` overwrites an existing method. " \
                           "A different name should be used for this property."
    end
  end

  module Mixin
    module ParamsValidate
      # A property that stores its value on the first read.
      class SetOrReturnProperty < Property
        def get(resource)
          value = super
          store(resource, value) unless set?(resource)
          value
        end

        def call(resource, value = NOT_PASSED)
          value.nil? && !explicitly_accepts_nil? ? get(resource) : super
        end
      end
    end
  end
end
