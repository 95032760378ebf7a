# frozen_string_literal: true

# Runs commands on the host, within the policy's grants. Each call waits for the end of the command.

class Process::Status
  attr_reader :exitstatus, :termsig, :pid

  # Creates the status of a command that ran on the host.
  def self.wrun(pid, code, signal) = allocate.wrun_take(pid, code, signal)

  def wrun_take(pid, code, signal)
    @pid = pid
    @exitstatus = code
    @termsig = signal
    freeze
  end

  def success? = @exitstatus&.zero?
  def exited? = !@exitstatus.nil?
  def signaled? = !@termsig.nil?
  def stopped? = false
  def stopsig = nil
  def coredump? = false
  def to_i = @exitstatus ? @exitstatus << 8 : @termsig.to_i
  def ==(other) = other.is_a?(Process::Status) ? to_i == other.to_i : to_i == other
  def &(other) = to_i & other
  def >>(other) = to_i >> other
  def to_s = "pid #{@pid} #{@exitstatus ? "exit #{@exitstatus}" : "SIG#{Signal.signame(@termsig.to_i)} (signal #{@termsig})"}"
  def inspect = "#<Process::Status: #{self}>"
end

# The status of the last command (`$?`).
$wrun_status = nil
alias $? $wrun_status
alias $CHILD_STATUS $wrun_status

module Wrun
  module Machine
    # The exit status and the output of a command.
    Outcome = Struct.new(:code, :signal, :output, :errors, :timed_out)

    # The last invented process number. Linux process numbers are never this high.
    @last_number = 1 << 22

    class << self
      # Runs a command to its end: a line for the shell, or a program and its arguments.
      def run(line, user: nil, group: nil, cwd: nil, environment: {}, timeout: nil, umask: nil, input: nil)
        settle
        timeout ||= Timeout.left if defined?(Timeout)
        command = {
          line: line.is_a?(Array) ? line.map { |word| command_text(word) } : command_text(line),
          user: user&.to_s,
          group: group&.to_s,
          cwd: cwd ? absolute(cwd) : working_directory,
          environment: environment_of(environment),
          timeout: timeout,
          umask: umask,
        }
        outcome(input ? send_with_input(command, input) : ask(nil, "machine.run", command, Sources.origin))
      ensure
        Timeout.check_all if defined?(Timeout)
      end

      # Does the same as `run` and sets `$?`.
      def run_noted(line, **how)
        outcome = run(line, **how)
        note(outcome)
        outcome
      rescue SystemCallError
        $wrun_status = Process::Status.wrun(@last_number += 1, 127, nil)
        raise
      end

      # Sets `$?`.
      def note(outcome)
        $wrun_status = Process::Status.wrun(@last_number += 1, outcome.code, outcome.signal)
      end

      private

      def send_with_input(command, input)
        bytes = input.to_s.b
        command[:input] = [0, bytes.bytesize]
        ask_with(bytes, nil, "machine.run", command, Sources.origin)
      end

      def outcome(reply)
        (code, signal, timed_out, length), bytes = reply
        output = bytes.byteslice(0, length).force_encoding(Encoding.default_external)
        errors = bytes.byteslice(length, bytes.bytesize).force_encoding(Encoding.default_external)
        Outcome.new(code, signal, output, errors, timed_out)
      end

      # Returns nil if no `Dir.chdir` is active, so that the host uses its own default directory.
      def working_directory = directory == "/" ? nil : directory

      def environment_of(given)
        ENV.for_commands.merge(given.to_h { |name, value| [name.to_s, value] }.compact).map { |name, value| [name, value.to_s] }
      end

      def command_text(word)
        text = String.try_convert(word) || (word.respond_to?(:to_path) ? word.to_path : nil)
        raise TypeError, "no implicit conversion of #{word.class} into String" unless text

        utf8(text)
      end
    end
  end
end
