# frozen_string_literal: true

# Finds the variables that a template reads and sets, and the partials that it renders.

module Wrun
  module Check
    class Walk
      private

      # `@port` in a template.
      def visit_variable(node)
        if @context == :template
          name = node.children[0].name.delete_prefix("@")
          add(:variable, node, name: name, asked: @asking || nil, set: node.type == :IASGN || nil)
        end
        visit_children(node)
      end

      # `render 'head.erb'`. Nothing is known of the variables of a partial.
      def note_partial_template(node, given)
        add(:partial, node, values: given.first && texts(given.first, @variables)) if @context == :template
      end
    end
  end
end
