# frozen_string_literal: true

# A guard of a resource: `only_if` or `not_if`.

class Chef
  class Resource
    # A guard that is known only by its text.
    ConditionalText = Struct.new(:to_text) do
      def description = to_text&.include?("action == :nothing") ? "action :nothing" : to_text
      alias_method :short_description, :description
    end

    # The guard that every action has: `:nothing` does nothing.
    ConditionalActionNotNothing = Struct.new(:current_action) do
      def continue? = current_action.to_s != "nothing"
      def description = "action :nothing"
      alias_method :short_description, :description
      alias_method :to_text, :description
    end

    class Conditional
      attr_reader :positivity, :command, :command_opts, :block

      def self.not_if(...) = new(:not_if, ...)
      def self.only_if(...) = new(:only_if, ...)
      def self.not_nothing(action) = ConditionalActionNotNothing.new(action)
      private_class_method :new

      def initialize(positivity, resource, command = nil, options = {}, &block)
        raise ArgumentError, "only_if/not_if requires either a command or a block" unless command || block

        @positivity = positivity
        @resource = resource
        @command = command
        @command_opts = options
        @block = block
      end

      # Returns the guard in the contract's form.
      def wrun_guard(context) = [@positivity == :not_if, wrun_test(context)]

      # Returns true if the guard lets an action run. Raises an error where a dry run cannot know.
      def continue? = evaluate == (@positivity == :only_if)
      def evaluate = @command.nil? ? !!evaluate_block : evaluate_command

      def description = "#{@positivity} #{@command ? "command `#{@command}`" : "ruby block"}"
      def short_description = @positivity
      def to_text = @command ? "#{positivity} \"#{@command}\"" : "#{@positivity} { #code block }"

      private

      def wrun_test(context)
        return Wrun::Turns.keep(context, -> { evaluate_block }) if @command.nil?

        wrun_command
      rescue StandardError => error
        # Raises the error when the guard is evaluated, as Chef does.
        Wrun::Turns.keep(context, -> { raise error })
      end

      def refuse_other_types(type)
        return if type <= Execute

        raise ArgumentError, "Specified guard interpreter class #{type} must be a kind of Chef::Resource::Execute resource"
      end

      def evaluate_block
        refuse_interpreter
        value = @block.call
        # For a text, the host warns, because the author may have meant a command.
        value.is_a?(String) ? value[0, 1_000].encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub : !!value
      end

      def refuse_interpreter
        given = @resource.guard_interpreter
        return if given == @resource.default_guard_interpreter

        raise ArgumentError, "#{@resource.name} was given a guard_interpreter of #{given}, but not given a command as a " \
                             "string. guard_interpreter does not support blocks (because they just contain ruby)."
      end

      def wrun_command
        unless @command.is_a?(String) || @command.is_a?(Array)
          raise ArgumentError, "Invalid only_if/not_if command, expected a string: #{@command.inspect} (#{@command.class})"
        end

        options = @resource.guard_interpreter == :default ? plain_options : interpreted_options
        command = { line: @command.is_a?(Array) ? @command.map(&:to_s) : @command, interpreter: options[:interpreter] }
        %i[user group cwd].each { |name| command[name] = options[name]&.to_s }
        variables = (options[:environment] || options[:env] || {}).compact
        command[:environment] = variables.map { |name, value| [name.to_s, value.to_s] }
        command[:timeout] = Float(options[:timeout]).ceil if options[:timeout]
        command[:umask] = options[:umask].is_a?(String) ? options[:umask].oct : options[:umask]
        command.compact
      end

      def plain_options
        options = @command_opts.transform_keys(&:to_sym)
        Mixlib::ShellOut.new("", **options.except(:default_env, :argument_array))
        options
      end

      # Asks the command here, as the host does for an action. An interpreter reads its code from its input.
      def evaluate_command
        command = wrun_command
        interpreter = command.delete(:interpreter)
        line = command.delete(:line)
        line, input = [interpreter, line] if interpreter
        asked = Mixlib::ShellOut.new(line, **command, environment: command[:environment].to_h, input: input)
        asked.run_command.status.success?
      rescue Mixlib::ShellOut::CommandTimeout
        Log.warn("Command '#{@command}' timed out")
        false
      end

      # Reads the options with a resource of the interpreter's type, as Chef does. An unknown property raises an error. The
      # guard of an `execute` runs like the resource's own command.
      def interpreted_options
        type = Resource.resource_for_node(@resource.guard_interpreter, @resource.node)
        refuse_other_types(type)
        stand_in = type.new("Guard resource", @resource.run_context)
        inherited.merge(@command_opts).each { |name, value| stand_in.send(name, value) }
        options = %i[user group cwd environment umask].to_h { |name| [name, stand_in.send(name)] }
        options[:timeout] = stand_in.timeout if stand_in.property_is_set?(:timeout)
        stand_in.is_a?(Script) ? options.merge(interpreter: interpreter(stand_in)) : options
      end

      def inherited
        return {} unless @resource.class.respond_to?(:guard_inherited_attributes)

        names = @resource.class.guard_inherited_attributes
        names.to_h { |name| [name, @resource.wrun_known_value(name)] }.compact
      end

      # Returns the program that runs the code, with its flags.
      def interpreter(script)
        script.code(@command)
        raise Exceptions::ValidationFailed, "interpreter is a required property" unless script.interpreter

        [script.interpreter, script.flags].compact.join(" ")
      end
    end
  end
end
