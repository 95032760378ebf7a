# frozen_string_literal: true

# Runs the blocks of `ruby_block` and `whyrun_safe_ruby_block`.

require_relative "../provider"

class Chef
  class Provider
    class RubyBlock < Provider
      provides :ruby_block

      def load_current_resource = true

      def action_run
        converge_by("execute the ruby block #{new_resource.name}") do
          new_resource.block.call
        end
      end
      alias action_create action_run
    end

    class WhyrunSafeRubyBlock < RubyBlock
      provides :whyrun_safe_ruby_block

      def action_run
        new_resource.block.call
        new_resource.updated_by_last_action(true)
      end
      alias action_create action_run
    end
  end
end
