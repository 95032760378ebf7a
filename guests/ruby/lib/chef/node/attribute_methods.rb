# frozen_string_literal: true

# Reads and writes attributes through the node.

class Chef
  class Node
    module AttributeMethods
      LEVELS = {
        default: "default", force_default: "force-default", normal: "normal", override: "override",
        force_override: "force-override", automatic: "automatic"
      }.freeze

      # Methods that Chef 14 removed, and what replaces them.
      REMOVED = {
        set: "Chef 14 removed `node.set`: write `node.default`, `node.normal` or `node.override`",
        set_unless: "Chef 14 removed `node.set_unless`: write `node.default_unless`, `node.normal_unless` or `node.override_unless`"
      }.freeze

      REMOVALS = { rm: "all", rm_default: "default", rm_normal: "normal", rm_override: "override" }.freeze

      def [](key)
        found = Node.merged(key.is_a?(Symbol) ? key.name : key.to_s)
        return Absent.note([key]) if found.nil?

        found = found.call while found.is_a?(DelayedEvaluator)
        found
      end

      LEVELS.each do |method, level|
        define_method(method) { Node.level(level) }
        define_method(:"#{method}=") { |values| Node.level(level).replace(values) }
      end

      %i[default normal override automatic].each do |level|
        alias_method :"#{level}_attrs", level
        alias_method :"#{level}_attrs=", :"#{level}="
      end

      # Returns a level that only the host writes, such as the defaults of roles.
      %i[role_default env_default role_override env_override].each do |level|
        define_method(level) { ImmutableMash.new(debug_levels.fetch(level.name)) }
      end

      def combined_default(*path) = Node.view("combined-default", steps(path))
      def combined_override(*path) = Node.view("combined-override", steps(path))

      # Defines `default_unless` and `default!` with their siblings. `_unless` tests only this level's own value.
      %i[default normal override].each do |level|
        define_method(:"#{level}_unless") do |*path|
          finish(path) { |steps, value| at_level(level).write(*steps, value) if at_level(level).read(*steps).nil? }
        end
        define_method(:"#{level}!") { |*path| finish(path) { |steps, value| at_level(level).write(*steps, value) } }
      end

      # Defines methods that set a value and remove the values of the same path from other levels with which it would merge.
      %i[force_default force_override].each do |level|
        define_method(:"#{level}!") { |*path| finish(path) { |steps, value| replace(level, steps, value) } }
      end

      REMOVALS.each do |method, what|
        define_method(method) do |*path|
          path = steps(path)
          removed = Writes.refused_as_chef_says { Wrun::Bridge.call("node.remove", what, path, Wrun::Sources.origin) }
          Node.forget_all
          Values.immutable(removed, path)
        end
      end

      def read(*path)
        return attributes if path.empty?

        top, rest = self[path.first], path.drop(1)
        CommonAPI.found?(top, rest, asking: true) ? CommonAPI.follow(top, rest) : (Absent.note(path) unless top.nil?)
      end
      alias dig read

      def read!(*path)
        found = path.size < 2 || CommonAPI.found?(self[path.first], path.drop(1), asking: true)
        raise Exceptions::NoSuchAttribute, path.join(".") unless found

        read(*path)
      end

      def exist?(*path)
        # Returns true for every top-level attribute, like Chef.
        path.size < 2 || (attribute?(path.first) && CommonAPI.found?(self[path.first], path.drop(1)))
      end

      def write(level, *path, &block) = at_level(level).write(*path, &block)
      def write!(level, *path, &block) = at_level(level).write!(*path, &block)
      def unlink(level, *path) = at_level(level).unlink(*path)
      def unlink!(level, *path) = at_level(level).unlink!(*path)

      def attribute?(key) = !Node.look("merged", [key.to_s]).nil?
      alias has_key? attribute?
      alias key? attribute?
      alias include? attribute?
      alias member? attribute?

      def keys
        kind, keys = Node.look("merged", [])
        kind == "object" ? keys : []
      end

      # Returns a new hash with all merged attributes that the policy may read.
      def attributes
        keys.each_with_object(ImmutableMash.new) do |key, all|
          all.regular_writer(key, Node.merged(key))
        rescue Wrun::Denied
          next
        end
      end
      alias attribute attributes
      alias construct_attributes attributes
      alias merged_attributes attributes

      def each(&block) = attributes.each(&block)
      alias each_pair each
      alias each_attribute each
      def each_key(&block) = keys.each(&block)
      def each_value(&block) = attributes.each_value(&block)
      def values = attributes.values

      def debug_value(*path)
        # The level `inherited` has the attributes of earlier policies. Chef does not have this level, so it appears only with
        # a value.
        levels = Writes.refused_as_chef_says { Wrun::Bridge.call("node.debug", steps(path)) }
        levels = levels.reject { |level, *value| level == "inherited" && value.empty? }
        levels.map { |level, *value| [level, value.empty? ? :not_present : Values.immutable(value[0], path)] }
      end

      private

      def debug_levels = debug_value.to_h { |level, value| [level, value == :not_present ? {} : value] }
      def steps(path) = path.map(&:to_s)

      def at_level(level)
        raise NoMethodError, "undefined method '#{level}' for attributes" unless LEVELS.key?(level.to_sym)

        Node.level(LEVELS.fetch(level.to_sym))
      end

      # Stores a value for a path. Without arguments, returns an object for the form `[..][..] = value`.
      def finish(path, &store)
        path.empty? ? Unchain.new(&store) : store.call(path[0...-1], path.last)
      end

      def replace(level, path, value)
        Writes.write(LEVELS.fetch(level), steps(path), value, "node.replace")
        Node.forget_all
        value
      end
    end
  end
end
