# frozen_string_literal: true

# Implements `Chef::Application`, through which cookbooks end the run.

class Chef
  class Application
    class << self
      # Ends the policy, where Chef would end its process.
      def fatal!(message, code = nil)
        Log.fatal(message)
        wrun_exit(code)
      end

      def exit!(message = "a cookbook ended the run", code = nil)
        Log.debug(message)
        wrun_exit(code)
      end

      def logger = Log
      def debug_stacktrace(_error) = nil

      private

      def wrun_exit(code) = raise(SystemExit.new(code.is_a?(Integer) ? code : 1, "exit"))
    end
  end

  class Platform
    # Lists the service managers of this machine.
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
