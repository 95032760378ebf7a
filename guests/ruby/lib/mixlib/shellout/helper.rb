# frozen_string_literal: true

# `shell_out` and `shell_out!`: commands as recipes, resources and libraries run them.

require_relative "../shellout"

module Mixlib
  class ShellOut
    module Helper
      # Runs a command: one string as typed, or a program and its arguments, of which nil ones are dropped.
      def shell_out(*command, **options)
        options = options.dup
        # The host's clean environment is what Chef's default one is for.
        options.delete(:default_env)
        options.delete(:argument_array)
        options[:timeout] = wrun_own_timeout if !options.key?(:timeout) && wrun_own_timeout
        environment = wrun_environment(options)
        options[:environment] = environment if environment
        Mixlib::ShellOut.new(*wrun_words(command), **options).run_command
      end

      # As `shell_out`, and raises unless the command succeeds.
      def shell_out!(*command, **options)
        done = shell_out(*command, **options)
        done.error!
        done
      end

      # Older names.
      def shell_out_compact(...) = shell_out(...)
      def shell_out_compact!(...) = shell_out!(...)
      def shell_out_compact_timeout(...) = shell_out(...)
      def shell_out_compact_timeout!(...) = shell_out!(...)
      def shell_out_with_timeout(...) = shell_out(...)
      def shell_out_with_timeout!(...) = shell_out!(...)
      def shell_out_with_systems_locale(...) = shell_out(...)
      def shell_out_with_systems_locale!(...) = shell_out!(...)
      def shell_out_compacted(...) = shell_out(...)
      def shell_out_compacted!(...) = shell_out!(...)
      def a_to_s(*arguments) = clean_array(*arguments).join(" ")
      def clean_array(*arguments) = arguments.flatten.reject { |one| one.nil? || one == "" }.map(&:to_s)

      private

      def wrun_words(command) = command.flatten.compact.map(&:to_s)

      def wrun_environment(options)
        given = options.delete(:env)
        given = (options[:environment] || given)
        given&.to_h { |name, value| [name.to_s, value&.to_s] }
      end

      # A provider's resource may say how long its commands may take.
      def wrun_own_timeout
        return unless respond_to?(:new_resource, true)

        resource = new_resource
        resource.timeout if resource.respond_to?(:timeout) && !resource.timeout.nil?
      rescue NotImplementedError, ArgumentError
        nil
      end
    end
  end
end
