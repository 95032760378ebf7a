# frozen_string_literal: true

# Announces resource types to the host. Ruby announces each type that it implements at the first declaration of such a resource.

module Wrun
  module Resources
    # The partials that cookbooks include with `use 'core::..'`: blocks for a class body, by name.
    module Partials
      @all = {}

      class << self
        def define(name, &block) = @all[name.to_s] = block
        def find(name) = @all[name.to_s]
      end
    end

    @known = {}
    @contexts = {}
    @places = {}
    @origins = {}

    class << self
      # Returns the Ruby resource with the host's number.
      def fetch(id)
        @known[id] or raise ArgumentError, "there is no resource #{id} in this policy's Ruby code"
      end

      def keep(resource)
        @known[resource.wrun_id] = resource
        (@contexts[resource.run_context&.wrun_id || 0] ||= []) << resource.wrun_id
      end

      # Returns the Ruby object for a host's resource. Makes a new object if Ruby did not declare the resource.
      def stand_for(id, run_context)
        return @known[id] if @known[id]

        kind, name = Bridge.call("resources.describe", id)
        type = Chef::ResourceResolver.resolve(kind, node: run_context.node) or return
        resource = type.new(name, run_context)
        resource.declared_type = kind.to_sym
        resource.wrun_stand_for(id)
        @known[id] = resource
      end

      # Discards the resources of a context that has ended.
      def forget(context)
        @contexts.delete(context)&.each { |id| @known.delete(id) }
      end

      # Returns the file, relative to the cookbook's folder, and the line of a stack frame or its text.
      def place(source_line, cookbook)
        case source_line
        when nil then ["", 0]
        when String
          path, line = source_line.match(/\A(.*?):(\d+)/)&.captures
          [file(path.to_s, cookbook), line.to_i]
        else [file(source_line.path, cookbook), source_line.lineno]
        end
      end

      # Returns the type's name for a file: `cookbook_file` for `cookbook/resources/file.rb`, `cookbook` for `default.rb`.
      def name_of_file(cookbook, path)
        base = ::File.basename(path, ::File.extname(path))
        name = base == "default" ? cookbook.to_s : "#{cookbook}_#{base}"
        name.gsub(/[^A-Za-z0-9_]/, "_")
      end

      # Returns the path of the partial for `use 'common'`, in the folder of the given file.
      def partial_beside(path, partial)
        name = ::File.basename(partial, ".rb").delete_prefix("_")
        ::File.expand_path("#{::File.dirname(partial)}/_#{name}.rb", ::File.dirname(path))
      end

      # Returns the beginning of an origin as JSON text: cookbook, recipe and file. It is the same for all lines of a recipe.
      def origin(cookbook, recipe, path)
        ((@origins[cookbook] ||= {})[recipe] ||= {})[path] ||=
          "[#{Text.name(cookbook)},#{Text.name(recipe)},#{Text.name(file(path, cookbook.to_s))},".freeze
      end

      private

      def file(path, cookbook)
        owner, relative = @places[path] ||= Sources.split(path) || [nil, path]
        owner.nil? || owner == cookbook ? relative : "../#{owner}/#{relative}"
      end
    end

    module Types
      @announced = {}
      @seen = {}

      class << self
        # Whether the host has been told of a type of that name.
        def announced?(kind) = @announced.key?(kind)

        # Tells the host of a type that Ruby acts for, unless it knows.
        def announce(resource)
          type = resource.class
          return if resource.provider.nil? && @seen[type] == Chef.wrun_types_version

          @seen[type] = Chef.wrun_types_version
          traits = traits_of(resource)
          kind = resource.send(:wrun_kind)
          return if @announced[kind] == traits

          @announced[kind] = traits
          unified, inspects, bypassed = traits
          Bridge.call("resources.define",
                      { name: kind, unified_mode: unified, inspects: inspects, bypassed_in_why_run: bypassed })
        end

        private

        def traits_of(resource)
          type = resource.class
          provider = resource.provider || type.wrun_provider
          simulates = provider.nil? || provider.allocate.whyrun_supported?
          [type.unified_mode, type.method_defined?(:load_current_value!), !simulates]
        end
      end
    end

    # Describes the host's type in methods of a resource class.
    module Kind
      # Returns the built-in type of this class or of its nearest superclass that has one.
      def wrun_builtin = @wrun_builtin || (superclass.respond_to?(:wrun_builtin) ? superclass.wrun_builtin : nil)

      # Returns true if the host implements the type's actions with other resources.
      def wrun_composite? = @wrun_composite || (superclass.respond_to?(:wrun_composite?) && superclass.wrun_composite?)

      # The name of the type for the host.
      def wrun_kind
        guest = wrun_guest?
        @wrun_kind ||= (guest ? resource_name : wrun_builtin)&.to_s
      end

      # Returns true if Ruby runs the type's actions.
      def wrun_guest?
        version = Chef.wrun_types_version
        return @wrun_guest if @wrun_types == version

        # Reports must show the own name of a composite type's subclass. So Ruby runs its action, and the host acts for an inner
        # resource.
        action_class if !custom_resource? && wrun_composite? && resource_name && resource_name != wrun_builtin
        @wrun_types = Chef.wrun_types_version
        @wrun_kind = nil
        @wrun_guest = custom_resource? || wrun_acts? || wrun_builtin.nil?
      end

      # Returns true if a cookbook's provider runs the type's actions. A cookbook may also name one of Chef's own for its type:
      # `Chef::Provider::Script.provides(:own)`.
      def wrun_acts? = !!wrun_provider&.wrun_acts?

      # Returns the provider class that runs the type's actions.
      def wrun_provider
        return action_class if custom_resource?

        Chef.provider_handler_map.get(Chef.run_context&.node, resource_name)
      end

      # Returns the names of the host's properties by their instance variables.
      def wrun_host_properties
        @wrun_host_properties ||= wrun_host_names.to_h { |name| [properties[name].instance_variable_name, name] }
      end

      # Defines `wrun_told`, which returns the JSON texts of the properties that a resource has: pairs of the name and the value
      # with its kind. It names each instance variable, because Ruby takes twenty times as long to find one by its name.
      def wrun_define_told
        return if @wrun_told

        @wrun_told = true
        slots = wrun_host_properties
        return if superclass.respond_to?(:wrun_host_properties) && superclass.wrun_host_properties == slots && superclass.wrun_define_told.nil?

        class_eval(wrun_code_of_told(slots), __FILE__, __LINE__)
        nil
      end

      # Returns true if the name is the property of all resources, whose value needs no method of the class.
      def wrun_plain_name?
        version = Chef::Mixin::Properties.version
        return @wrun_plain_name if @wrun_plain_name_version == version

        @wrun_plain_name_version = version
        @wrun_plain_name = Chef::Resource.equal?(instance_method(:name).owner)
      end

      def wrun_host_property?(name) = wrun_host_names.include?(name)
      def wrun_host_names = @wrun_host_names || (superclass.respond_to?(:wrun_host_names) ? superclass.wrun_host_names : [])

      private

      def wrun_code_of_told(slots)
        lines = slots.map do |slot, name|
          "told << \"[#{Text.name(name).gsub("\"", "\\\"")},\#{wrun_said(context, #{name.inspect}, #{slot}, rest)}]\" if defined?(#{slot})"
        end
        "def wrun_told(context, rest)\ntold = []\n#{lines.join("\n")}\ntold\nend\nprivate :wrun_told"
      end
    end
  end
end
