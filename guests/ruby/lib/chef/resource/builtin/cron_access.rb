# frozen_string_literal: true

# `cron_access`: who may, and who may not, have jobs of their own. All such resources of a run write one file together.

class Chef
  class Resource
    class CronAccess
      FOLDERS = { "aix" => "/etc/cron.d", "solaris2" => "/etc/cron.d", "default" => "/etc" }.freeze

      action(:allow) { add_user("cron.allow") }
      action(:deny) { add_user("cron.deny") }

      action_class do
        def add_user(list)
          user = new_resource.user
          file = ::File.join(value_for_platform_family(FOLDERS), list)
          with_run_context :root do
            edit_resource(:template, file) do
              source Builtin.template("cron_access")
              local true
              mode "0600"
              variables["users"] ||= []
              variables["users"] << user
              action :nothing
              delayed_action :create
            end
          end
        end
      end
    end
  end
end
