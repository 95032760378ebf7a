# frozen_string_literal: true

# Calls the host and turns its errors into the exceptions that a Ruby programmer expects. A denial becomes `Errno::EACCES` and
# names the grant that would allow the call. A change in a dry run becomes `Errno::EROFS`. An error of the system keeps its
# own name.

module Wrun
  module Machine
    # How the error of a call that a dry run refused begins.
    DRY_RUN = "this is a dry run, which would "
    private_constant :DRY_RUN

    class << self
      # Calls a function of the contract's `machine`. `about` is the name of the C function that Ruby's own error messages
      # contain.
      def ask(about, function, *arguments)
        Bridge.call(function, *arguments)
      rescue Refused => refused
        raise failure(refused, about), cause: nil
      end

      # Does the same as `ask` and sends bytes along. The arguments refer to the bytes by offset and length.
      def ask_with(bytes, about, function, *arguments)
        Bridge.call_with(bytes, function, *arguments)
      rescue Refused => refused
        raise failure(refused, about), cause: nil
      end

      # Returns true if a dry run refused what code asked.
      def dry_failure?(error) = error.is_a?(SystemCallError) && error.message.include?(DRY_RUN)

      private

      def failure(refused, about)
        case refused.reason
        when "denied" then Errno::EACCES.new(refused.texts.first)
        when "dry-run" then Errno::EROFS.new("#{DRY_RUN}#{refused.texts.first}")
        when "system" then system_failure(*refused.texts, about)
        else IOError.new(refused.message)
        end
      end

      def system_failure(name, what, about)
        return IOError.new("#{name}: #{what}") unless name.match?(/\AE[A-Z0-9]+\z/) && Errno.const_defined?(name)

        about ? Errno.const_get(name).new(what, about) : Errno.const_get(name).new(what)
      end
    end
  end
end
