# frozen_string_literal: true

# Adds constructors to those exceptions of Chef that build their own messages.

class Chef
  class Exceptions
    class CannotDetermineNodeName
      def initialize
        super("Unable to determine node name: configure node_name or configure the system's hostname and fqdn")
      end
    end

    class BootstrapCommandInputError
      def initialize = super("You cannot pass both --json-attributes and --json-attribute-file. Please pass one or none.")
    end

    class FileContentStagingError
      # Joins the errors with the two characters `\n`, not with a line break, because Chef's code does so.
      def initialize(errors)
        super("Staging tempfile can not be created during file deployment.\n Errors: #{errors.join('\n')}!")
      end
    end

    class DeprecatedFeatureError
      def initialize(message)
        super("#{message} (raising error due to treat_deprecation_warnings_as_errors being set)")
      end
    end

    class ContentLengthMismatch
      def initialize(received, announced)
        super("Response body length #{received} does not match HTTP Content-Length header #{announced}.\n" \
              "This error is most often caused by network issues (proxies, etc) outside of chef-client.\n")
      end
    end

    class RunLockTimeout
      def initialize(duration, blocking_pid)
        super("Unable to acquire lock. Waited #{duration} seconds for #{blocking_pid} to release.")
      end
    end

    class PIDFileLockfileMatch
      def initialize
        super("PID file and lockfile are not permitted to match. Specify a different location with --pid or --lockfile")
      end
    end

    class GemRequirementConflict
      def initialize(gem, option, one, other)
        super("Conflicting requirements for gem '#{gem}': Both #{one.inspect} and #{other.inspect} given for " \
              "option #{option.inspect}")
      end
    end

    class AmbiguousProviderResolution
      def initialize(resource, classes)
        super("Found more than one provider for #{resource.resource_name} resource: #{classes}")
      end
    end

    class RunFailedWrappingError
      attr_reader :wrapped_errors

      def initialize(*errors)
        @wrapped_errors = errors.compact
        super("Found #{@wrapped_errors.size} errors, they are stored in the backtrace")
      end

      def fill_backtrace
        lines = wrapped_errors.each_with_index.map do |error, index|
          ["#{index + 1}) #{error.class} -  #{error.message}", *error.backtrace]
        end
        set_backtrace(lines.inject { |all, more| [*all, "", *more] } || [])
      end
    end

    # Combines the failures of a run and of its delayed notifications.
    class MultipleFailures
      def initialize(*)
        super
        @all_failures = []
      end

      # An exception from the host was created without `initialize`, so it keeps the host's message.
      def message
        return super unless @all_failures

        @all_failures.inject("Multiple failures occurred:\n") do |text, (place, error)|
          "#{text}* #{error.class} occurred in #{place}: #{error.message}\n"
        end
      end

      def client_run_failure(error)
        set_backtrace(error.backtrace)
        @all_failures << ["Chef Infra Client run", error]
      end

      def notification_failure(error) = @all_failures << ["delayed notification", error]
      def empty? = @all_failures.empty?
      def for_raise = @all_failures.one? ? @all_failures[0][1] : self
      def raise! = empty? ? nil : raise(for_raise)
    end

    # The errors for cookbook versions that do not exist.
    class CookbookVersionSelection
      class InvalidRunListItems < StandardError
        attr_reader :non_existent_cookbooks, :cookbooks_with_no_matching_versions

        def initialize(message, missing, without_version)
          super(message)
          @non_existent_cookbooks = missing
          @cookbooks_with_no_matching_versions = without_version
        end
      end

      class UnsatisfiableRunListItem < StandardError
        attr_reader :run_list_item, :non_existent_cookbooks, :most_constrained_cookbooks

        def initialize(message, item, missing, most_constrained)
          super(message)
          @run_list_item = item
          @non_existent_cookbooks = missing
          @most_constrained_cookbooks = most_constrained
        end
      end
    end
  end
end
