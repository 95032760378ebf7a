# frozen_string_literal: true

# `cron_d`: a file of jobs below /etc/cron.d.

class Chef
  class Resource
    class CronD
      # The properties that the file's template shows.
      SHOWN = %i[
        predefined_value minute hour day month weekday command user mailto path home shell comment random_delay environment
      ].freeze

      property :cookbook, String, desired_state: false

      def after_created
        super
        return unless cookbook

        raise ArgumentError, "The 'cookbook' property for the cron_d resource is no longer supported now that it ships as a core resource."
      end

      action(:create) { write_jobs(:create) }
      action(:create_if_missing) { write_jobs(:create_if_missing) }

      action :delete do
        given = "/etc/cron.d/#{new_resource.cron_name}"
        file "legacy named cron.d file" do
          path given
          action :delete
        end

        file "/etc/cron.d/#{file_name}" do
          action :delete
        end
      end

      action_class do
        # Returns a name without dots, because cron ignores files with a dot in their name.
        def file_name = new_resource.cron_name.tr(".", "-")

        def define_resource_requirements
          requirements.assert(:create, :create_if_missing) do |name|
            name.assertion { !linux? || new_resource.cron_name.match?(/^[a-zA-Z0-9_-]+$/) }
            name.failure_message("The cron job name should contain letters, numbers, hyphens and underscores only.")
            name.block_action!
          end
        end

        def write_jobs(how)
          remove_older_name
          resource = new_resource
          template "/etc/cron.d/#{file_name}" do
            source Builtin.template("cron.d")
            local true
            mode resource.mode
            sensitive resource.sensitive
            variables(SHOWN.to_h { |name| [name, resource.public_send(name)] })
            action how
          end
        end

        def remove_older_name
          given = new_resource.cron_name
          used = file_name
          file "#{given} legacy named cron.d file" do
            path "/etc/cron.d/#{given}"
            action :delete
            only_if { given != used }
          end
        end
      end
    end
  end
end
