# frozen_string_literal: true

# What cookbooks ask of the program that runs them.

class Chef
  class Application
    class << self
      # Ends the run: what would end a process ends the policy.
      def fatal!(message, _code = nil)
        Log.fatal(message)
        raise Exceptions::Application, message
      end

      def exit!(message = "a cookbook ended the run", _code = nil) = raise(Exceptions::Application, message)
      def logger = Log
      def debug_stacktrace(_error) = nil
    end
  end

  class Platform
    # Which ways there are to manage services on this machine.
    module ServiceHelpers
      extend ChefUtils::DSL::Service

      class << self
        def service_resource_providers
          found = []
          found.push(:debian, :invokercd) if debianrcd?
          found.push(:upstart) if upstart?
          found.push(:insserv) if insserv?
          found.push(:systemd) if systemd?
          found.push(:redhat) if redhatrcd?
          found
        end

        def config_for_service(name)
          %i[initd upstart xinetd etc_rcd systemd].select { |type| service_script_exist?(type, name) }
        end
      end
    end
  end
end
