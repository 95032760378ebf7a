# frozen_string_literal: true

# Finds the actions and the notifications of resources, and those that a run refuses.

module Wrun
  module Check
    module References
      # Says that a value cannot be an action.
      def self.no_action(value)
        { kind: "action", message: "an action must be a symbol such as `:create`, not `#{value.inspect}`" }
      end
    end

    class Walk
      # When notifications are sent.
      TIMINGS = %w[before delayed immediate immediately].freeze

      # The words of notifications, with the numbers of arguments that they take.
      NOTIFYING = {
        notifies: 2..3, subscribes: 2..3, notifies_immediately: 2..2, notifies_delayed: 2..2, notifies_before: 2..2
      }.freeze

      private

      # Visits `action`, `notifies` and `subscribes`, such as `notifies :restart, 'service[x]'`. `given` is nil if the number
      # of arguments is not known.
      def visit_reference(node, name, given)
        return if given.nil?

        case name
        when :action then visit_action(node, given)
        when *NOTIFYING.keys then visit_notification(node, name, given)
        end
      end

      def visit_action(node, given)
        return if given.empty?

        actions = values(given.first, @variables)&.flatten
        @properties << { name: "action", line: node.first_lineno, values: actions&.grep(String) }
        asked = array?(given.first) ? elements(given.first) : given.first(1)
        # `action nil` and `action false` only ask.
        asked = asked.reject { |one| %i[NIL FALSE].include?(one.type) } unless array?(given.first)
        note_action(node, asked)
      end

      # Notes the literals that cannot be the name of an action.
      def note_action(node, asked)
        asked.each do |one|
          value = exact(one) or next
          next if value.first.is_a?(String) || value.first.is_a?(Symbol)

          add(:refused, node, **References.no_action(value.first))
        end
      end

      def visit_notification(node, name, given)
        unless NOTIFYING[name].cover?(given.size)
          message = "`#{name}` takes an action, a resource#{" and perhaps a timing" if NOTIFYING[name].cover?(3)}; " \
                    "it has #{given.size} of them here"
          return add(:refused, node, kind: "notification", message: message)
        end

        action, target, timing = given
        note_action(node, [action]) unless array?(action)
        note_target(node, name, exact(target))
        targets = texts(target, @variables)
        refer(node, targets, name == :subscribes ? nil : action) if targets && target.type != :SYM
        note_timing(node, exact(timing)) if timing
      end

      # `notifies :run, 'execute[x]', :immediatly`.
      def note_timing(node, timing)
        return if timing.nil? || TIMINGS.include?(timing.first.to_s)

        near = Hints.nearest(timing.first.to_s, TIMINGS)
        add(:wrong_timing, node, name: timing.first.inspect, near: near)
      end

      # Notes a literal that no run takes for a resource. `target` has it, or is nil for other code. `refer` judges texts.
      def note_target(node, name, target)
        return if target.nil?

        wrong = name == :subscribes ? [target.first].flatten : [target.first]
        wrong = wrong.reject { |one| one.is_a?(Hash) || one.is_a?(String) }
        wrong.each { |one| refuse_target(node, one) }
      end

      def refuse_target(node, target)
        message = "`#{target.inspect}` does not name a resource: write `'type[name]'`"
        add(:refused, node, kind: "notification", message: message)
      end

      # Records the resources that a notification names, and the actions that it requests.
      def refer(node, targets, action)
        written, wrong = targets.partition { |target| lookup?(target) }
        wrong.each { |target| refuse_target(node, target) }
        actions = action && values(action, @variables)&.flatten&.grep(String)
        unknown = written.map { |target| target[/\A[^\[]*/] }.uniq.reject { |type| Known.type?(type.to_sym) }
        add(:reference, node, values: written, actions: actions, unknown: unknown)
        Known.wrong_actions(written, actions.to_a) { |wrong| add(:wrong_action, node, **wrong) }
      end

      # Returns true if a run looks a resource up by this text.
      def lookup?(target)
        Chef::ResourceCollection.validate_lookup_spec!(target)
      rescue Chef::Exceptions::InvalidResourceSpecification
        false
      end
    end
  end
end
