# frozen_string_literal: true

# Defines `only_if`, `not_if` and the interpreter of their commands.

class Chef
  class Resource
    def only_if(command = nil, options = {}, &block)
      wrun_guard(Conditional.only_if(self, command, options, &block), @only_if) if command || block
      @only_if
    end

    def not_if(command = nil, options = {}, &block)
      wrun_guard(Conditional.not_if(self, command, options, &block), @not_if) if command || block
      @not_if
    end

    # Returns the first guard that forbids an action, or nil. Cookbooks ask it of other resources; the host asks the guards of
    # an action that it runs by itself.
    def should_skip?(action)
      [Conditional.not_nothing(action), *only_if, *not_if].find do |guard|
        next if guard.continue?

        logger.debug("Skipping #{self} due to #{guard.description}")
        true
      end
    end

    def guard_interpreter(given = nil)
      return @guard_interpreter || default_guard_interpreter if given.nil?

      set_or_return(:guard_interpreter, given, kind_of: Symbol)
    end

    private

    def wrun_guard(conditional, list)
      list << conditional
      wrun_amend(guard: conditional.wrun_guard(run_context.wrun_id)) if @wrun_id
    end
  end
end
