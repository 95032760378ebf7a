# frozen_string_literal: true

# Reads classes and modules of cookbooks and notes the resource types, methods and constants that they define.

module Wrun
  module Check
    class Walk
      private

      # Notes a custom resource's type and its platform, before the walk through the file starts.
      def prepare(root)
        return unless @context == :resource_class

        base = ::File.basename(@file.path, ".rb")
        name = (base == "default" ? @file.cookbook : "#{@file.cookbook}_#{base}").gsub(/\W/, "_")
        add(:type, 1, name: name, first: Known.first?(name))
        filters = calls(root.children[2]).filter_map { |name, arguments| arguments if name == :provides }
        platforms = filters.map { |arguments| Platforms.filter(elements(arguments) || []) }
        @platform ||= platforms.first if platforms.any? && platforms.all?
        @platform ||= other_chef(root)
      end

      # Returns a text such as "Chef < 16.0" if `chef_version_for_provides '< 16.0'` excludes this version of Chef. Then the
      # check ignores the file's needs.
      def other_chef(node)
        return children(node).filter_map { |child| other_chef(child) }.first unless node.type == :FCALL
        return unless node.children[0] == :chef_version_for_provides

        wanted = texts(elements(node.children[1])&.first, {})&.first or return
        "Chef #{wanted}" unless Gem::Requirement.new(wanted).satisfied_by?(Gem::Version.new(Chef::VERSION.to_s))
      rescue Gem::Requirement::BadRequirementError
        nil
      end

      # Returns the calls without a receiver at the top level of a file or class.
      def calls(body)
        statements = node?(body) && body.type == :BLOCK ? children(body) : [body].compact
        statements.select { |one| %i[FCALL VCALL].include?(one.type) }.map { |one| parts(one).drop(1) }
      end

      def visit_class_word(node, receiver, name, arguments, block)
        note_asked(node, receiver, name)
        return note_shape(node, name, arguments) if receiver && !self?(receiver) && PROPERTY.include?(name)
        return if receiver && !self?(receiver)

        note_shape(node, name, arguments) if @context == :resource_class || PROPERTY.include?(name)
        case name
        when :provides, :resource_name, :resource_name=
          texts(elements(arguments)&.first, {})&.each { |one| add(:type, node, name: one, first: Known.first?(one), block: block ? true : nil) }
        when :define then define_type(node, arguments)
        when :property, :attribute then note_property(node, arguments)
        when :define_method, :alias_method, :attr_reader, :attr_accessor, :def_delegator
          given = elements(arguments)&.first
          texts(given, {})&.each { |one| add(:method, node, name: one) }
        end
      end

      # `define :name do`: a definition is used like a resource.
      def define_type(node, arguments)
        return unless @file.path.start_with?("definitions/")

        texts(elements(arguments)&.first, {})&.each { |one| add(:type, node, name: one) }
      end

      def visit_class(node)
        name, above, body = node.type == :CLASS ? node.children : [node.children[0], nil, node.children[1]]
        full = [@scope, constant(name)].compact.join("::")
        add(:defined, node, name: full)
        superclass = constant(above)
        visit(above)
        state = { context: context_of_class(superclass), scope: full, around: around(full, superclass) }
        within(**state, variables: @variables.slice(DEFAULTS)) { visit_children(body) }
      end

      # Returns the classes and modules in which a constant of a class body may lie. The name of the superclass may also be
      # one of the classes around it: `class Chef; class Resource::Site < Resource`.
      def around(full, superclass)
        parts = full.split("::")
        outer = (1..parts.size).map { |count| parts.first(count).join("::") }
        outer + (superclass ? [nil, *@around].map { |place| [place, superclass].compact.join("::") } : [])
      end

      def context_of_class(superclass)
        case superclass
        when /\A(?:Chef::)?Resource(?:::|\z)/ then :resource_class
        when /\A(?:Chef::)?Provider(?:::|\z)/ then :provider_class
        else :code
        end
      end
    end
  end
end
