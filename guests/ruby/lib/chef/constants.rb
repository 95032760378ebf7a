# frozen_string_literal: true

# The default value of optional arguments. It distinguishes "no argument" from nil.

class Chef
  NOT_PASSED = Object.new
  def NOT_PASSED.to_s = "NOT_PASSED"
  def NOT_PASSED.inspect = to_s
  NOT_PASSED.freeze
end
