# frozen_string_literal: true

# Implements `shell_out` and `shell_out!`, which recipes, resources and libraries use to run commands.

require_relative "../shellout"

module Mixlib
  class ShellOut
    module Helper
      # Runs a command: one string for the shell, or a program and its arguments without the nil ones.
      def shell_out(*command, **options)
        options = options.dup
        # Chef's default environment is unnecessary, because the host uses a clean environment.
        options.delete(:default_env)
        options.delete(:argument_array)
        options[:timeout] = wrun_own_timeout if !options.key?(:timeout) && wrun_own_timeout
        environment = wrun_environment(options)
        options[:environment] = environment if environment
        Mixlib::ShellOut.new(*wrun_words(command), **options).run_command
      end

      # Does the same as `shell_out`, but raises an error if the command fails.
      def shell_out!(*command, **options)
        done = shell_out(*command, **options)
        done.error!
        done
      end

      # Older names, and helpers of older versions.
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

      # Returns the `timeout` of the provider's resource, or nil.
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
