# frozen_string_literal: true

# Implements Ruby's calls that start commands (backtick, `system`, `spawn`) with their options for input and output.

module Wrun
  module Machine
    # A command with the arguments of `system`, `spawn` or backtick: `[environment,] command, arguments.., options`.
    class Call
      attr_reader :line, :environment, :options

      def initialize(arguments, options)
        arguments = arguments.dup
        options = arguments.pop.merge(options) if arguments.last.is_a?(Hash) && arguments.size > 1
        @environment = arguments.first.is_a?(Hash) ? arguments.shift : {}
        @options = options
        raise ArgumentError, "wrong number of arguments (given 0, expected 1+)" if arguments.empty?

        # `[program, name]` also gives the name that the program sees as its own. The contract cannot pass this name on.
        first = arguments.first.is_a?(Array) ? arguments.first.first : arguments.first
        alone = arguments.size == 1 && !arguments.first.is_a?(Array)
        @line = alone ? first : [first, *arguments.drop(1)]
      end

      # Runs the command. Its output goes to the targets in the options, or else to `output` and `errors`.
      def run(output: $stdout, errors: $stderr, input: nil)
        outcome = Machine.run_noted(@line, cwd: @options[:chdir], environment: @environment, umask: @options[:umask],
                                           input: input || read_input)
        deliver(outcome, output, errors)
        outcome
      end

      def shown = @line.is_a?(Array) ? @line.join(" ") : @line

      private

      def read_input
        from = target(:in, $stdin, 0)
        case from
        when nil, :close then nil
        when String then File.binread(from)
        when Array then File.binread(from.first)
        else from.respond_to?(:read) ? from.read : nil
        end
      end

      def deliver(outcome, output, errors)
        to_output = target(:out, $stdout, 1)
        to_errors = target(:err, $stderr, 2)
        joined = same?(to_errors, :out, 1, $stdout)
        text = joined ? outcome.output + outcome.errors : outcome.output
        give(text, to_output, same?(to_output, :err, 2, $stderr) ? errors : output)
        give(outcome.errors, to_errors, errors) unless joined
      end

      # Returns the option of a stream, which has several possible names, or nil.
      def target(*names)
        @options.each do |name, target|
          return target if (name.is_a?(Array) ? name : [name]).any? { |one| names.any? { |known| known.equal?(one) || known == one } }
        end
        nil
      end

      def same?(target, *names) = names.include?(target.is_a?(Array) && target.first == :child ? target.last : target)

      def give(text, target, otherwise)
        case target
        when nil, Symbol, Integer then target == :close ? nil : (otherwise << text unless text.empty?)
        when "/dev/null" then nil
        when String then File.write(target, text)
        when Array then target.first == :child ? give(text, nil, otherwise) : give_file(text, target)
        else target.write(text)
        end
      end

      def give_file(text, target)
        path, mode, permissions = target
        File.open(path, mode || "r", permissions) { |file| file.write(text) } unless path == "/dev/null"
      end
    end

    class << self
      def call_system(arguments, exception: false, **options)
        call = Call.new(arguments, options)
        outcome = call.run
        return true if outcome.code&.zero?

        raise "Command failed with #{$wrun_status.to_s.sub(/\Apid \d+ /, "")}: #{call.shown}" if exception

        false
      rescue Errno::ENOENT
        raise if exception

        nil
      end

      # Runs the command to its end, because the sandbox cannot run commands in the background.
      def call_spawn(arguments, **options)
        Call.new(arguments, options).run
        $wrun_status.pid
      end

      def call_backtick(line)
        collected = +""
        Call.new([line], {}).run(output: collected)
        collected
      end

      def refuse_exec(line)
        raise NotImplementedError, "the sandbox does not replace itself by a command: #{Array(line).flatten.grep(String).join(" ")}"
      end
    end
  end
end

module Kernel
  private

  def `(line) = Wrun::Machine.call_backtick(line)
  def system(*arguments, **options) = Wrun::Machine.call_system(arguments, **options)
  def spawn(*arguments, **options) = Wrun::Machine.call_spawn(arguments, **options)
  def exec(*line) = Wrun::Machine.refuse_exec(line)
  def fork = raise(NotImplementedError, "the sandbox has no processes of its own: fork is not possible")

  def test(letter, path, other = nil)
    question = {
      "e" => :exist?, "f" => :file?, "d" => :directory?, "l" => :symlink?, "r" => :readable?, "R" => :readable?,
      "w" => :writable?, "W" => :writable?, "x" => :executable?, "X" => :executable?, "s" => :size?, "z" => :zero?,
      "M" => :mtime, "A" => :atime, "C" => :ctime, "u" => :setuid?, "g" => :setgid?, "k" => :sticky?, "o" => :owned?,
    }[letter.is_a?(Integer) ? letter.chr : letter.to_s]
    return File.identical?(path, other) if letter.to_s == "-"
    raise ArgumentError, "unknown command '#{letter}'" unless question

    File.public_send(question, path)
  end

  def open(path, *arguments, **options, &block)
    return path.to_open(*arguments, **options, &block) if path.respond_to?(:to_open)

    text = Wrun::Machine.path_text(path)
    return IO.popen(text[1..], *arguments, **options, &block) if text.start_with?("|")

    File.open(text, *arguments, **options, &block)
  end

  def select(*arguments) = IO.select(*arguments)

  # Sleeps in steps of at most a minute, the limit of the contract.
  def sleep(seconds = nil)
    raise NotImplementedError, "nobody would wake the sandbox up: sleep needs a time" if seconds.nil?
    raise ArgumentError, "time interval must not be negative" if seconds.negative?

    left = (seconds * 1000).ceil
    until left.zero?
      now = [left, 60_000].min
      Wrun::Bridge.call("clock.sleep", now)
      left -= now
      next unless defined?(Timeout)

      Timeout.pass(now / 1000.0) if Chef::Config[:why_run]
      Timeout.check_all
    end
    seconds.round
  end

  def srand(seed = (seed_is_missing = true)) = Wrun::Machine.seed(seed_is_missing ? nil : seed)
  def rand(limit = 0) = Wrun::Machine.random_number(limit)

  %i[` system spawn exec fork test open select sleep srand rand].each { |name| module_function(name) }
end
