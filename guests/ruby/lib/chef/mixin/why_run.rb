# frozen_string_literal: true

# Implements the requirements of older providers: conditions for an action, and assumptions for a dry run.

class Chef
  module Mixin
    module WhyRun
      # The assertions of one run of an action.
      class ResourceRequirements
        # One assertion of `requirements.assert(:create) { |a| .. }`.
        class Assertion
          class AssertionFailure < RuntimeError; end

          def initialize
            @block = nil
            @failure = nil
            @assumption = nil
            @blocks = false
          end

          def assertion(&block) = @block = block
          def whyrun(message = nil, &block) = @assumption = [message, block]
          def block_action! = @blocks = true
          def assertion_failed? = @failed
          def block_action? = @blocks && @failed

          def failure_message(class_or_message, message = nil)
            @failure = message ? [class_or_message, message] : [AssertionFailure, class_or_message]
          end

          # Raises an error if the assertion fails. A dry run continues with its assumption instead.
          def run(why_run)
            @failed = !@block.call
            return unless @failed
            raise @failure[0], @failure[1] unless @failure.nil? || (why_run && @assumption)

            @assumption&.last&.call if why_run
          end
        end

        def initialize(resource, _run_context, action)
          @resource = resource
          @action = action
          @assertions = Hash.new { |all, name| all[name] = [] }
          @blocked = []
        end

        def assert(*actions)
          assertion = Assertion.new
          yield assertion
          actions.each { |action| @assertions[action] << assertion }
        end

        def run(action)
          @assertions[action].each do |assertion|
            assertion.run(Chef::Config[:why_run])
            if assertion.block_action?
              @blocked << action
              return
            end
          end
        end

        def action_blocked?(action) = @blocked.include?(action) || @blocked.include?(:all_actions)
      end
    end
  end
end
