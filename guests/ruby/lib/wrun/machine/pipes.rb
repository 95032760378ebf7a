# frozen_string_literal: true

# Implements IO.popen: writes to a command's input and reads its output. The command runs when the first output is read, or
# when the pipe is closed.

module Wrun
  module Machine
    # Ruby's end of a pipe to a command.
    class Pipe < IO
      include StreamMethods

      def initialize(call, mode)
        @call = call
        @mode = mode
        @input = StringIO.new("".b)
        run unless mode.write?
      end

      def write(*texts) = @input.write(*texts)
      def print(*texts) = @input.print(*texts)
      def puts(*texts) = @input.puts(*texts)
      def printf(...) = @input.printf(...)
      def putc(one) = @input.putc(one)

      def <<(text)
        write(text)
        self
      end

      def flush = self
      def close_write = run.then { nil }
      def close_read = nil
      def closed? = @closed == true

      # Closes the pipe. The command has ended by then, even if its output was not read.
      def close
        return if @closed

        run
        @closed = true
        $wrun_status = @status
        nil
      end

      def pid
        run
        @status.pid
      end

      private

      def run
        return if @wrun_io

        collected = "".b
        @call.run(output: collected, input: @mode.write? ? @input.string : nil)
        @status = $wrun_status
        $stdout << collected unless @mode.read?
        @wrun_io = StringIO.new(collected.force_encoding(@mode.encoding), "r")
      end

      def wrun_io
        run
        @wrun_io
      end
    end
  end
end

class IO
  class << self
    def popen(*arguments, **options)
      given = options.slice(:mode, :external_encoding, :encoding, :binmode)
      mode = arguments.pop if mode_text?(arguments)
      # A program and its arguments may be one array.
      arguments = arguments.flat_map { |one| one.is_a?(Array) && one.first.is_a?(Hash) ? one : [one] }
      arguments = arguments.flat_map { |one| one.is_a?(Array) ? [[one.first, one.first], *one.drop(1)] : [one] }
      call = Wrun::Machine::Call.new(arguments, options.except(*given.keys))
      pipe = Wrun::Machine::Pipe.new(call, Wrun::Machine::Mode.new(mode, given))
      return pipe unless block_given?

      begin
        yield pipe
      ensure
        pipe.close
      end
    end

    private

    def mode_text?(arguments)
      commands = arguments.reject { |one| one.is_a?(Hash) }
      commands.size > 1 && commands.last.is_a?(String) && commands.last.match?(/\A[rwa][bt+]*(?::|\z)/)
    end
  end
end
