# frozen_string_literal: true

# Implements `lazy { .. }`: a block that computes a property's value when it is needed.

class Chef
  class DelayedEvaluator < Proc
    def dup = self.class.new(&self)
    def inspect = "lazy { (evaluates to) #{call.inspect} }"
    alias to_s inspect
  end
end
