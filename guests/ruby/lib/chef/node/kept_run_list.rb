# frozen_string_literal: true

class Chef
  class Node
    # What the node's own run list has beside others: whatever a cookbook makes of it, the next run begins with. This run
    # goes on as it was expanded, as in Chef.
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
