# frozen_string_literal: true

# `timezone`: the machine's local time.

class Chef
  class Resource
    class Timezone
      load_current_value do
        if systemd? then timezone(wrun_of_systemd)
        elsif platform_family?("rhel", "amazon") then timezone(wrun_of_file)
        end
      end

      def wrun_of_systemd
        told = shell_out(["/usr/bin/timedatectl", "status"])
        raise "There was an error running the timedatectl command" if told.error?

        told.stdout[/Time zone: (.*) \(.*/, 1]
      rescue Errno::EROFS
        # A dry run does not let it speak to systemd, and does not know.
        nil
      end

      def wrun_of_file
        ::File.read("/etc/sysconfig/clock")[/ZONE="(.*)"/, 1] if ::File.exist?("/etc/sysconfig/clock")
      end

      action :set do
        converge_if_changed(:timezone) do
          if systemd? then set_by_systemd
          elsif platform_family?("rhel", "amazon") then set_by_files
          end
        end
      end

      action_class do
        def set_by_systemd
          package(suse? ? "timezone" : "tzdata")
          shell_out!(["/usr/bin/timedatectl", "--no-ask-password", "set-timezone", new_resource.timezone])
        end

        def set_by_files
          zone = new_resource.timezone
          updater = "/usr/sbin/tzdata-update"
          package "tzdata"

          file "/etc/sysconfig/clock" do
            owner "root"
            group "root"
            mode "0644"
            action :create
            content "ZONE=\"#{zone}\"\nUTC=\"true\"\n"
          end

          execute "tzdata-update" do
            command updater
            action :nothing
            only_if { ::File.executable?(updater) }
            subscribes :run, "file[/etc/sysconfig/clock]", :immediately
          end

          link "/etc/localtime" do
            to "/usr/share/zoneinfo/#{zone}"
            not_if { ::File.executable?(updater) }
          end
        end
      end
    end
  end
end
