# frozen_string_literal: true

# Methods of resource classes: names, platforms, partials and documentation.

class Chef
  class Resource
    module ClassLevel
      def resource_name(name = NOT_PASSED)
        @resource_name = name.respond_to?(:to_sym) ? name.to_sym : nil unless NOT_PASSED.equal?(name)
        @resource_name
      end
      alias resource_name= resource_name

      # Makes the class available to recipes under a name, on all platforms or on some.
      def provides(name, **filters, &)
        name = name.to_sym
        @resource_name = name if resource_name.nil?
        version = chef_version_for_provides
        filters[:chef_version] = version if version && !filters.key?(:chef_version)
        Chef.resource_handler_map.set(name, self, **filters, &)
        DSL::Resources.add_resource_dsl(name)
      end

      def provides?(node, resource_name) = ResourceResolver.new(node, resource_name).provided_by?(self)

      def chef_version_for_provides(constraint = NOT_PASSED)
        @chef_version_for_provides = constraint unless NOT_PASSED.equal?(constraint)
        @chef_version_for_provides
      end

      # Returns the class for a name on this node.
      def resource_for_node(name, node)
        ResourceResolver.resolve(name, node: node) or raise Exceptions::NoSuchResourceType.new(name, node)
      end

      def resource_matching_short_name(name) = ResourceResolver.resolve(name)

      # Returns or sets unified mode: child resources converge at their declaration.
      def unified_mode(flag = nil)
        @unified_mode = flag unless flag.nil?
        @unified_mode.nil? ? Chef::Config[:resource_unified_mode_default] != false : !!@unified_mode
      end

      def state_attrs(*names) = state_properties(*names).map(&:name)

      def identity_property(name = nil)
        found = identity_properties(*Array(name))
        return found.first if found.size <= 1

        raise Exceptions::MultipleIdentityError,
              "identity_property cannot be called on an object with more than one identity property " \
              "(#{found.map(&:name).join(", ")})."
      end

      def identity_attr(name = nil) = identity_property(name)&.name

      # Documentation of the class, without effect.
      %i[description introduced examples skip_docs default_description preview_resource target_mode].each do |word|
        define_method(word) do |*given, **|
          slot = :"@#{word}"
          instance_variable_set(slot, given.first) unless given.empty?
          instance_variable_get(slot)
        end
      end

      def deprecated(message = NOT_PASSED)
        unless NOT_PASSED.equal?(message)
          @deprecated = true
          @deprecated_message = message
        end
        @deprecated
      end

      # Includes a partial from the same folder: `use 'common'` reads `_common.rb`.
      def use(partial)
        return use_core(partial.delete_prefix("core::")) if partial.start_with?("core::")

        wrun_take_in(Wrun::Resources.partial_beside(@wrun_file || caller_locations(1, 1).first.path, partial))
      end

      # The partial's code sees this method's local variable, so its name must not collide with words of cookbooks.
      def wrun_take_in(wrun_path) = class_eval(Mixin::FromFile.partial(wrun_path), wrun_path, 1)

      # Includes one of Chef's own partials, which are blocks in `Partials`.
      def use_core(partial)
        shared = Wrun::Resources::Partials.find(::File.basename(partial, ".rb").delete_prefix("_"))
        raise Errno::ENOENT, "core::#{partial}" unless shared

        class_eval(&shared)
      end

      def inherited(child)
        super
        (@wrun_subclasses ||= []) << child
      end

      # Returns all subclasses, direct and indirect.
      def descendants = (@wrun_subclasses || []).flat_map { |child| [child, *child.descendants] }
      alias resource_classes descendants
      def sorted_descendants = descendants.sort_by(&:to_s)
      def find_descendants_by_name(name) = descendants.select { |one| one.name&.split("::")&.last == name.to_s }
      alias find_subclass_by_name find_descendants_by_name

      def node = Chef.run_context&.node
      def run_context = Chef.run_context
    end
  end
end
