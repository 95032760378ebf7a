# frozen_string_literal: true

# A value that nobody can pass: tells "no argument" from nil.

class Chef
  NOT_PASSED = Object.new
  def NOT_PASSED.to_s = "NOT_PASSED"
  def NOT_PASSED.inspect = to_s
  NOT_PASSED.freeze
end
