# frozen_string_literal: true

# Implements Timeout without threads. It checks the deadline after each command, HTTP request or sleep, and at the end of the
# block. The policy's own limits stop code that only computes. A dry run does not sleep: the time that code would have slept
# counts here, so that code that waits for a service gives up after as many tries as in a real run.

module Timeout
  class ExitException < Exception; end

  # Raised if a block takes longer than its timeout.
  class Error < RuntimeError
    def self.handle_timeout(message) = raise(self, message)
  end

  @deadlines = []
  @not_slept = 0

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

    # Raises an error if a deadline has passed. Called after a wait for the host.
    def check_all = @deadlines.each { |deadline| check(deadline) }

    # Counts a sleep that a dry run left out.
    def pass(seconds) = @not_slept += seconds

    # Returns the whole seconds until the nearest deadline, or nil. The host uses them as the timeout of a command.
    def left = @deadlines.map { |at, _, _| [(at - now).ceil, 1].max }.min

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC) + @not_slept

    def check((at, error, message))
      raise error, message if now > at
    end
  end

  private

  def timeout(...) = Timeout.timeout(...)
end
