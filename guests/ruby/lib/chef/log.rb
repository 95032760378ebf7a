# frozen_string_literal: true

# Implements `Chef::Log`: sends lines with a level to the run's log. The host decides which lines appear and where.

class Chef
  class Log
    LEVELS = %i[trace debug info warn error fatal].freeze

    @level = :info
    @metadata = {}

    class << self
      attr_accessor :metadata
      attr_reader :level

      # Sets the log level. Ruby does not send lines below it to the host.
      def level=(level)
        level = :info if level.nil? || level.to_sym == :auto
        unless LEVELS.include?(level.to_sym)
          raise ArgumentError, "Log level must be one of :trace, :debug, :info, :warn, :error, or :fatal"
        end

        @level = level.to_sym
      end

      LEVELS.each_with_index do |name, weight|
        define_method(name) do |message = nil, &block|
          next false if weight < LEVELS.index(@level)

          write(name, block ? block.call : message)
        end
        define_method(:"#{name}?") { weight >= LEVELS.index(@level) }
      end

      def add(severity, message = nil, program = nil, &block)
        severity = LEVELS[severity + 1] || :fatal if severity.is_a?(Integer)
        public_send(severity, message || (block ? block.call : program))
      end
      alias log add

      def <<(message)
        info(message.to_s.chomp)
        self
      end

      # Logs a deprecation as a warning. It never raises an error.
      def deprecation(message = nil, &block) = warn(message, &block)

      def with_child(*) = self
      def init(*) = self
      def init! = self
      def loggers = [self]
      def logger = self
      def use_log_devices(*) = nil
      def setup!(*) = nil
      def close = nil
      def configured? = true
      def caller_location = place

      private

      def write(level, message)
        message = message.is_a?(Exception) ? "#{message.message} (#{message.class})" : message.to_s
        message = message.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) unless message.encoding == Encoding::UTF_8
        # Flushes printed output first, to keep the order of lines.
        STDOUT.flush
        Wrun::Bridge.call("output.log", level.name, message.scrub)
        true
      end

      def place
        cookbook, _, file, line = Wrun::Sources.origin
        cookbook.empty? ? "an unknown place" : "#{Wrun::Sources.path(cookbook, file)}:#{line}"
      end
    end
  end
end
