# frozen_string_literal: true

# Methods that declare, build, find, edit and delete resources, and choose the run context.

class Chef
  module DSL
    module DeclareResource
      # Runs the block in another run context: the root context, the parent context or a given one.
      def with_run_context(place)
        before = @run_context
        raise ArgumentError, "with_run_context is useless without a block" unless block_given?

        @run_context =
          case place
          when RunContext then place
          when :root then run_context.root_run_context
          when :parent then run_context.parent_run_context
          else raise ArgumentError, "bad argument to run_context helper, must be :root, :parent, or a Chef::RunContext"
          end
        yield
      ensure
        @run_context = before
      end

      def declare_resource(type, name, created_at: nil, run_context: self.run_context, enclosing_provider: nil, &block)
        created_at ||= caller_locations(1, 1).first
        resource = wrun_build(type, name, created_at, run_context, enclosing_provider, block)
        wrun_insert(resource, run_context)
      end

      def build_resource(type, name, created_at: nil, run_context: self.run_context, enclosing_provider: nil, &block)
        created_at ||= caller_locations(1, 1).first
        resource = wrun_build(type, name, created_at, run_context, enclosing_provider, block)
        wrun_run_at_compile_time(resource) if resource.compile_time
        resource
      end

      def find_resource!(type, name, run_context: self.run_context)
        raise ArgumentError, "find_resource! does not take a block" if block_given?

        run_context.resource_collection.find(type => name)
      end

      # Finds a resource. If it does not exist, declares it with the block, or returns nil without a block.
      def find_resource(type, name, created_at: nil, run_context: self.run_context, &block)
        found = wrun_find(type, name, run_context)
        return found if found || block.nil?

        created_at ||= caller_locations(1, 1).first
        declare_resource(type, name, created_at: created_at, run_context: run_context, &block)
      end

      def edit_resource!(type, name, created_at: nil, run_context: self.run_context, &block) # rubocop:disable Lint/UnusedMethodArgument
        resource = find_resource!(type, name, run_context: run_context)
        if block
          acting = wrun_acting_resource
          acting ? resource.instance_exec(acting, &block) : resource.instance_exec(&block)
        end
        resource
      end

      def edit_resource(type, name, created_at: nil, run_context: self.run_context, &block)
        return edit_resource!(type, name, run_context: run_context, &block) if wrun_find(type, name, run_context)

        created_at ||= caller_locations(1, 1).first
        declare_resource(type, name, created_at: created_at, run_context: run_context, &block)
      end

      def delete_resource!(type, name, run_context: self.run_context)
        run_context.resource_collection.delete("#{type}[#{name}]")
      end

      def delete_resource(type, name, run_context: self.run_context)
        delete_resource!(type, name, run_context: run_context)
      rescue Exceptions::ResourceNotFound
        nil
      end

      def resources(*specs) = run_context.resource_collection.find(*specs)

      private

      def wrun_find(type, name, context)
        context.resource_collection.find(type => name)
      rescue Exceptions::ResourceNotFound
        nil
      end

      # Declares a resource for a type's own method, such as `file`.
      def wrun_declare_here(type, name, created_at, &block)
        context = run_context
        wrun_insert(wrun_build(type, name, created_at, context, nil, block), context)
      end

      def wrun_insert(resource, context)
        at_once = resource.compile_time ? Array(resource.action) : nil
        resource.action(:nothing) if at_once
        collection = context.resource_collection
        resource.wrun_declare
        at_once&.each { |action| resource.run_action(action) }
        collection.keep(resource, resource.declared_key)
        Wrun::Resources.errand("settle", resource.wrun_id) if collection.unified_mode
        resource
      end

      def wrun_run_at_compile_time(resource)
        Array(resource.action).each { |action| resource.run_action(action) }
        resource.action(:nothing)
      end

      def wrun_acting_resource = is_a?(Provider) ? new_resource : nil

      def wrun_build(type, name, created_at, context, enclosing_provider, block)
        type = type.to_sym
        resource = Resource.resource_for_node(type, context.node).new(name, context)
        refuse_nameless(resource)
        by_action = is_a?(Provider)
        resource.source_line = by_action ? wrun_place_of(created_at) : created_at
        resource.declared_type = type
        resource.cookbook_name = cookbook_name
        resource.recipe_name = recipe_name
        resource.enclosing_provider = enclosing_provider || (self if by_action)
        resource.params = @params
        wrun_fill(resource, block) if block
        resource.after_created
        resource
      end

      # Returns the place to report for a resource that an action declares. A line of the runtime would not help authors. So for a
      # resource that the runtime's code declares, this is the place of the enclosing resource.
      def wrun_place_of(created_at)
        path = created_at.is_a?(String) ? created_at : created_at&.path
        path&.match?(Wrun::Machine::RUNTIME) ? new_resource.wrun_source_line : created_at
      end

      def wrun_fill(resource, block)
        resource.resource_initializing = true
        acting = wrun_acting_resource
        acting ? resource.instance_exec(acting, &block) : resource.instance_exec(&block)
      rescue Exceptions::ValidationFailed => error
        shown = Wrun::Resources::Checks.without_value(error, block)
        shown.equal?(error) ? raise : raise(shown, cause: nil)
      ensure
        resource.resource_initializing = false
      end

      def refuse_nameless(resource)
        return if resource.resource_name

        raise Exceptions::InvalidResourceSpecification,
              "#{resource}.resource_name is `nil`!  Did you forget to put `provides :blah` or `resource_name :blah` " \
              "in your resource class?"
      end
    end
  end
end
