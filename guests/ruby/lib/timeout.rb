# frozen_string_literal: true

# Timeout without threads: the block runs, and each call that leaves Ruby for the host is held against its deadline, as is
# its end. What only computes is stopped by the policy's own limits.

module Timeout
  class ExitException < Exception; end

  # A block took longer than it may.
  class Error < RuntimeError
    def self.handle_timeout(message) = raise(self, message)
  end

  @deadlines = []

  class << self
    def timeout(seconds, error = nil, message = nil, &block)
      return yield(seconds) if seconds.nil? || seconds.zero?
      raise ArgumentError, "Timeout sec must be a non-negative number" if seconds.negative?

      deadline = [now + seconds, error || Error, message || "execution expired"]
      @deadlines.push(deadline)
      value = block.call(seconds)
      check(deadline)
      value
    ensure
      @deadlines.pop if deadline
    end

    # Raises if a deadline has passed; asked where the host has been waited for.
    def check_all = @deadlines.each { |deadline| check(deadline) }

    # Whole seconds that are left, for what the host can end itself.
    def left = @deadlines.map { |at, _, _| [(at - now).ceil, 1].max }.min

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def check((at, error, message))
      raise error, message if now > at
    end
  end

  private

  def timeout(...) = Timeout.timeout(...)
end
