# frozen_string_literal: true

# `lazy { .. }`: a value that is asked for when it is needed.

class Chef
  class DelayedEvaluator < Proc
    def dup = self.class.new(&self)
    def inspect = "lazy { (evaluates to) #{call.inspect} }"
    alias to_s inspect
  end
end
