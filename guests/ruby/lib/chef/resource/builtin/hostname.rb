# frozen_string_literal: true

# `hostname`: the machine's name, now, at its next start and in /etc/hosts.

class Chef
  class Resource
    class Hostname
      property :ipaddress, [String, nil], default: lazy { node["ipaddress"] }
      property :compile_time, [true, false], default: true, desired_state: false

      action :set do
        raise_unless_known
        ohai "reload hostname" do
          plugin "hostname"
          action :nothing
        end

        set_running_name
        name_address unless new_resource.ipaddress.nil?
        keep_name
      end

      action_class do
        include Builtin::Questions

        def raise_unless_known
          return if linux?

          raise "Do not know how to set hostname on os #{node["os"]}, platform #{node["platform"]}," \
                "platform_version #{node["platform_version"]}, platform_family #{node["platform_family"]}"
        end

        def set_running_name
          name = new_resource.hostname
          execute "set hostname to #{name}" do
            command "/bin/hostname #{name}"
            not_if { printed("hostname").chomp == name }
            notifies :reload, "ohai[reload hostname]"
          end
        end

        def name_address
          address, name = new_resource.ipaddress, new_resource.hostname
          names = [new_resource.fqdn, name, *new_resource.aliases, name[/[^.]*/]].reject { |one| one.to_s.empty? }
          replaced = put_line("/etc/hosts", /^#{address}\s+|\s+#{name}\s+/, [address, *names].join(" "))
          replaced.atomic_update false if docker?
          replaced.notifies :reload, "ohai[reload hostname]"
        end

        # Where the name stands that the machine starts with depends on the distribution.
        def keep_name
          name = new_resource.hostname
          if ::File.exist?("/usr/bin/hostnamectl") && !docker?
            set_by_systemd(name)
          elsif ::File.exist?("/etc/hostname") then write_name("/etc/hostname", "#{name}\n")
          elsif ::File.file?("/etc/sysconfig/network") then put_line("/etc/sysconfig/network", /^HOSTNAME\s*=/, "HOSTNAME=#{name}")
          elsif ::File.exist?("/etc/HOSTNAME") then write_name("/etc/HOSTNAME", "#{name}\n")
          elsif ::File.exist?("/etc/conf.d/hostname") then write_name("/etc/conf.d/hostname", "hostname=\"#{name}\"\n")
          else put_line("/etc/sysctl.conf", /^\s+kernel\.hostname\s+=/, "kernel.hostname=#{name}")
          end
        end

        def set_by_systemd(name)
          execute "hostnamectl set-hostname #{name}" do
            notifies :reload, "ohai[reload hostname]"
            not_if { printed("hostnamectl status").match?(/Static hostname:\s*#{name}\s*$/) }
          end
        end

        def write_name(path, text)
          in_container = docker? && path == "/etc/hostname"
          file path do
            atomic_update false if in_container
            content text
            owner "root"
            group node["root_group"]
            mode "0644"
          end
        end

        # A file with a line in the place of those that match.
        def put_line(path, replaced, line)
          lines = ::File.read(path).split("\n").grep_v(replaced) << line
          file path do
            content lines.join("\n") << "\n"
            owner "root"
            group node["root_group"]
            mode "0644"
            not_if { ::File.read(path).split("\n").include?(line) }
          end
        end
      end
    end
  end
end
