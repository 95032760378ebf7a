# frozen_string_literal: true

# Implements Open3: runs commands and captures their output and errors, separately or together. The sandbox runs each command
# to its end, so the input must be complete before.

require "stringio"

module Open3
  class << self
    def capture3(*command, stdin_data: "", binmode: false, **options)
      output, errors = +"", +""
      run(command, options, stdin_data, output, errors)
      [taken(output, binmode), taken(errors, binmode), $?]
    end

    def capture2(*command, stdin_data: "", binmode: false, **options)
      output = +""
      run(command, options, stdin_data, output, $stderr)
      [taken(output, binmode), $?]
    end

    def capture2e(*command, stdin_data: "", binmode: false, **options)
      both = +""
      run(command, options, stdin_data, both, both)
      [taken(both, binmode), $?]
    end

    # Yields the command's input, output, errors and process object. The command runs at the first read of a result, or after
    # the block.
    def popen3(*command, **options)
      process = Process.new(command, options)
      streams = [process.input, process.output, process.errors, process]
      block_given? ? yield(*streams).tap { process.run } : streams
    end

    def popen2(*command, **options)
      process = Process.new(command, options)
      streams = [process.input, process.output, process]
      block_given? ? yield(*streams).tap { process.run } : streams
    end

    def popen2e(*command, **options)
      process = Process.new(command, options.merge(err: %i[child out]))
      streams = [process.input, process.output, process]
      block_given? ? yield(*streams).tap { process.run } : streams
    end

    private

    def run(command, options, input, output, errors)
      input = input.read if input.respond_to?(:read)
      Wrun::Machine::Call.new(command, options).run(output: output, errors: errors, input: input)
    end

    def taken(text, binmode) = binmode ? text.b : text
  end

  # A command that runs at the first read of its output, with the input written so far.
  class Process
    attr_reader :input, :output, :errors

    def initialize(command, options)
      @call = Wrun::Machine::Call.new(command, options)
      @input = StringIO.new
      @output = Later.new { run && @collected[0] }
      @errors = Later.new { run && @collected[1] }
    end

    def run
      @status ||= begin
        texts = [+"", +""]
        @call.run(output: texts[0], errors: texts[1], input: @input.string)
        @collected = texts.map { |text| StringIO.new(text) }
        $?
      end
    end

    alias value run
    def pid = run.pid
    def join(*) = run.then { self }
    def alive? = false
    def status = false
    def [](name) = name.to_sym == :pid ? pid : nil
  end

  # A stream that is created at its first method call.
  class Later < BasicObject
    def initialize(&made)
      @made = made
    end

    def respond_to?(...) = @made.call.respond_to?(...)
    def method_missing(...) = @made.call.__send__(...)
    def respond_to_missing?(*) = true
  end
end
