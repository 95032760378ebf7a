# frozen_string_literal: true

# One `only_if` or `not_if`.

class Chef
  class Resource
    class Conditional
      attr_reader :positivity, :command, :command_opts, :block

      def self.not_if(...) = new(:not_if, ...)
      def self.only_if(...) = new(:only_if, ...)
      private_class_method :new

      def initialize(positivity, resource, command = nil, options = {}, &block)
        raise ArgumentError, "only_if/not_if requires either a command or a block" unless command || block

        @positivity = positivity
        @resource = resource
        @command = command
        @command_opts = options
        @block = block
      end

      # The guard as the contract has it.
      def wrun_guard(context) = [@positivity == :not_if, wrun_test(context)]

      def description = "#{@positivity} #{@command ? "command `#{@command}`" : "ruby block"}"
      def short_description = @positivity
      def to_text = @command ? "#{positivity} \"#{@command}\"" : "#{@positivity} { #code block }"

      private

      def wrun_test(context)
        case @command
        when String, Array then wrun_command
        when nil then Wrun::Turns.keep(context, -> { evaluate_block })
        else
          # Chef says so when the guard is asked.
          error = ArgumentError.new("Invalid only_if/not_if command, expected a string: #{@command.inspect} (#{@command.class})")
          Wrun::Turns.keep(context, -> { raise error })
        end
      end

      def evaluate_block
        refuse_interpreter
        value = @block.call
        warn_of_command(value) if value.is_a?(String) && !value.empty?
        !!value
      end

      def refuse_interpreter
        given = @resource.guard_interpreter
        return if given == @resource.default_guard_interpreter

        raise ArgumentError, "#{@resource.name} was given a guard_interpreter of #{given}, but not given a command as a " \
                             "string. guard_interpreter does not support blocks (because they just contain ruby)."
      end

      def warn_of_command(value)
        shown = @resource.sensitive ? "a string" : value.inspect
        advice = @resource.sensitive ? "" : " If so use '#{@positivity} #{shown}' in your code."
        Chef::Log.warn("#{@positivity} block for #{@resource} returned #{shown}, did you mean to run a command?#{advice}")
      end

      def wrun_command
        options = inherited.merge(@command_opts.transform_keys(&:to_sym))
        line = @command.is_a?(Array) ? @command.map(&:to_s) : @command
        command = { line: line, interpreter: interpreter }
        %i[user group cwd].each { |name| command[name] = options[name]&.to_s }
        command[:environment] = (options[:environment] || options[:env] || {}).map { |name, value| [name.to_s, value.to_s] }
        command[:timeout] = options[:timeout].ceil if options[:timeout]
        command[:umask] = options[:umask].is_a?(String) ? options[:umask].oct : options[:umask]
        command[:input] = nil
        command.compact
      end

      # A guard of an `execute` is run as its command is.
      def inherited
        return {} unless @resource.guard_interpreter != :default && @resource.class.respond_to?(:guard_inherited_attributes)

        names = @resource.class.guard_inherited_attributes
        names.to_h { |name| [name, @resource.wrun_known_value(name)] }.compact
      end

      def interpreter
        given = @resource.guard_interpreter
        given.to_s unless %i[default execute].include?(given)
      end
    end
  end
end
