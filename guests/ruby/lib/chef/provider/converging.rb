# frozen_string_literal: true

# Reports the changes of an action (`converge_by`, `converge_if_changed`) and runs its child resources in contexts of their
# own.

class Chef
  class Provider
    module Converging
      WRUN_SECRET = "(suppressed sensitive property)"

      class << self
        # True if the run only collects the grants that the policy could need. Then `converge_if_changed` also runs its block
        # for unchanged resources.
        attr_accessor :wrun_survey
      end

      # Reports the coming changes and runs the block. A dry run only reports.
      def converge_by(descriptions)
        lines = Array(descriptions).flatten.compact.map(&:to_s)
        @converged = true
        go_on = new_resource.wrun_id ? Wrun::Bridge.call("resources.converge-by", new_resource.wrun_id, lines) : !whyrun_mode?
        yield if go_on
        nil
      end

      # Runs the block if a property with a value differs from the present state.
      def converge_if_changed(*names, &block)
        raise ArgumentError, "converge_if_changed must be passed a block!" unless block

        type = new_resource.class
        properties = names.empty? ? type.state_properties : names.map { |name| type.properties[name.to_sym] }
        current_resource ? converge_update(properties, &block) : converge_create(properties, &block)
      end

      # Runs the resources of a block, as older providers do. The action counts as a change, whatever they do. A dry run only
      # reports it, as in Chef.
      def recipe_eval(&block)
        converge_by("evaluate block and run any associated actions") { compile_and_converge_action(&block) }
      end

      # Runs a block. The resources that it declares converge before the method returns.
      def compile_and_converge_action(&block)
        outer = run_context
        own = @wrun_own
        @wrun_own = nil
        return within(own, outer, &block) if own

        id = Wrun::Bridge.call("resources.enter", new_resource.wrun_id, wrun_around(outer).wrun_id)
        child = ChildRunContext.new(outer, id, new_resource.class.unified_mode)
        ended = false
        value = within(child, outer, &block)
        ended = true
        Wrun::Resources.errand("leave", id)
        value
      ensure
        Wrun::Turns.converse("abandon", id) if id && !ended
      end

      private

      def within(context, outer, &)
        around = @wrun_inside
        @run_context = @wrun_inside = context
        instance_eval(&)
      ensure
        @run_context = outer
        @wrun_inside = around
      end

      # Returns the parent for a new context. It must be a context of this action. Resources of an action without a context of
      # its own (`def action_run`) are declared in the outer context.
      def wrun_around(context) = context.equal?(@wrun_inside) ? context : @wrun_child || context

      def converge_update(properties, &)
        asked = properties.select { |property| property.set?(new_resource) || property.has_default? }
        changed = asked.reject { |property| new_resource.send(property.name) == current_resource.send(property.name) }
        return log_unchanged(asked) if changed.empty? && !Converging.wrun_survey

        lines = aligned(changed) do |property|
          "#{new_resource.send(property.name).inspect} (was #{current_resource.send(property.name).inspect})"
        end
        converge_by(["update #{current_resource.identity}"] + lines, &)
        true
      end

      def converge_create(properties, &)
        given = properties.select { |property| property.set?(new_resource) }
        lines = aligned(properties, given) { |property| new_resource.send(property.name).inspect }
        converge_by(["create #{new_resource.identity}"] + lines, &)
        true
      end

      # Returns the lines `  set NAME to VALUE`, with all names padded to the longest.
      def aligned(properties, given = properties)
        width = properties.map { |property| property.name.size }.max
        properties.map do |property|
          shown = new_resource.sensitive || property.sensitive? ? WRUN_SECRET : yield(property)
          "  set #{property.name.to_s.ljust(width)} to #{shown}#{" (default value)" unless given.include?(property)}"
        end
      end

      def log_unchanged(properties)
        shown = properties.map do |property|
          next property.name.to_s if new_resource.sensitive

          "#{property.name}=#{property.sensitive? ? WRUN_SECRET : new_resource.send(property.name).inspect}"
        end
        Chef::Log.debug("Skipping update of #{new_resource}: has not changed any of the specified properties #{shown.join(", ")}.")
        false
      end
    end
  end
end
