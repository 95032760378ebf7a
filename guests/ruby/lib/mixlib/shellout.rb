# frozen_string_literal: true

# Implements Mixlib::ShellOut, which Chef and cookbooks use to run commands, through the host.

require_relative "shellout/exceptions"

module Mixlib
  # A command and its result.
  class ShellOut
    # The default timeout of a command in seconds, as in Chef.
    DEFAULT_READ_TIMEOUT = 600

    # Options without effect, because the host runs the command.
    IGNORED = %i[domain password elevated login log_level log_tag cgroup clean_after].freeze
    private_constant :IGNORED

    attr_accessor :user, :group, :cwd, :valid_exit_codes, :live_stdout, :live_stderr, :input, :log_level, :log_tag, :sensitive,
                  :elevated, :domain, :password, :logger
    attr_reader :command, :umask, :environment, :stdout, :stderr, :status, :execution_time
    attr_writer :timeout, :umask

    def self.new(*arguments, **options)
      given = arguments.last.is_a?(Hash) ? arguments.pop : {}
      super(*arguments, **given.transform_keys(&:to_sym), **options)
    end

    def initialize(*command, **options)
      @command = command.size == 1 ? command.first : command
      @environment = {}
      @valid_exit_codes = [0]
      @stdout = ""
      @stderr = ""
      @sensitive = false
      options.each { |name, value| take(name, value) }
      yield self if block_given?
    end

    def timeout = @timeout || DEFAULT_READ_TIMEOUT
    def exitstatus = @status&.exitstatus
    def process_status = @status
    def live_stream = live_stdout == live_stderr ? live_stdout : nil
    def live_stream=(stream)
      self.live_stdout = self.live_stderr = stream
    end

    def error? = !valid_exit_codes.include?(exitstatus)
    def uid = user.is_a?(Integer) ? user : nil
    def gid = group.is_a?(Integer) ? group : nil

    # Runs the command to its end and returns self.
    def run_command
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      outcome = Wrun::Machine.run_noted(command, user: user, group: group, cwd: cwd, environment: environment,
                                                 timeout: timeout.ceil, umask: umask, input: input)
      @execution_time = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
      @status = $?
      @stdout = outcome.output
      @stderr = outcome.errors
      live_stdout << @stdout if live_stdout && !@stdout.empty?
      live_stderr << @stderr if live_stderr && !@stderr.empty?
      timed_out! if outcome.timed_out

      self
    rescue Errno::ENOENT, Errno::EACCES
      # In Chef the process that could not become the program has ended with 1, and code that rescues this error looks at that.
      @status = Process::Status.wrun($?.pid, 1, nil)
      raise
    end

    def error! = error? ? invalid!("Expected process to exit with #{expected}, but received '#{exitstatus}'") : nil

    def invalid!(message = nil)
      message ||= "Command produced unexpected results"
      raise ShellCommandFailed, "#{message}\n#{format_for_exception}"
    end

    def format_for_exception
      return "Command execution failed. STDOUT/STDERR suppressed for sensitive resource" if sensitive

      <<~TEXT.chomp
        ---- Begin output of #{command} ----
        STDOUT: #{stdout.to_s.strip}
        STDERR: #{stderr.to_s.strip}
        ---- End output of #{command} ----
        #{"Ran #{command} returned #{exitstatus}" if @status}
      TEXT
    end

    def inspect = "<#{self.class.name}##{object_id}: command: '#{command}' process_status: #{status.inspect} stdout: '#{stdout.strip}' stderr: '#{stderr.strip}'>"

    private

    def timed_out!
      ended = "Command exceeded allowed execution time, process terminated\n" unless sensitive
      raise CommandTimeout, "Command timed out after #{timeout.to_i}s:\n#{ended}#{format_for_exception}"
    end

    def expected = "[#{valid_exit_codes.join(", ")}]"

    def take(name, value)
      case name
      when :returns then @valid_exit_codes = Array(value)
      when :environment, :env then @environment = (value || {}).transform_keys(&:to_s)
      when :umask then @umask = value.is_a?(String) ? value.to_i(8) : value
      when :timeout then @timeout = value && Float(value)
      when :live_stream then self.live_stream = value
      when :cwd, :user, :group, :input, :live_stdout, :live_stderr, :sensitive, :logger, *IGNORED then instance_variable_set(:"@#{name}", value)
      else raise InvalidCommandOption, "option '#{name.inspect}' is not a valid option for #{self.class.name}"
      end
    end
  end
end
