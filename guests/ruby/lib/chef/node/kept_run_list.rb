# frozen_string_literal: true

class Chef
  class Node
    # Saves changes of the node's own run list for the next run. As in Chef, the current run continues with the list that was
    # expanded before.
    module KeptRunList
      def <<(item) = super.tap { keep }
      alias push <<
      alias add <<

      def reset!(*) = super.tap { keep }
      def remove(item) = super.tap { keep }
      alias delete remove

      private

      def keep
        Wrun::Bridge.call("node.set-run-list", for_json)
      end
    end
  end
end
