# frozen_string_literal: true

# `ssh_known_hosts_entry`: hosts that every user's ssh knows. All entries of a run are written together at its end.

class Chef
  class Resource
    class SshKnownHostsEntry
      TYPES = { "rsa" => "ssh-rsa", "dsa" => "ssh-dss", "ecdsa" => "ecdsa-sha2-nistp256", "ed25519" => "ssh-ed25519" }.freeze

      property :group, [String, Integer], default: lazy { node["root_group"] }

      action :create do
        entry = new_resource.key ? given_entry : scanned_entry
        entry = entry.sub(/^#{new_resource.host}/, host_and_port) if new_resource.port != 22
        entries = known_hosts.variables[:entries]
        comment = entry.lines.first.to_s.chomp
        if entries.any? { |one| !one.empty? && (one.include?(comment) || one.include?(entry)) }
          Chef::Log.debug "Known hosts key for #{new_resource.host} already exists - skipping"
        else
          entries.push(entry)
        end
      end

      action :flush do
        path = new_resource.file_location
        with_run_context :root do
          find_resource!(:template, "update ssh known hosts file #{path}").run_action(:create)
          Chef::Log.warn "flushed ssh_known_hosts entries to file, later ssh_known_hosts_entry resources will not have been written"
        end
      end

      action_class do
        def host_and_port = "[#{new_resource.host}]:#{new_resource.port}"

        def given_entry
          host = new_resource.port == 22 ? new_resource.host : host_and_port
          "#{host} #{TYPES.fetch(new_resource.key_type, new_resource.key_type)} #{new_resource.key}"
        end

        def scanned_entry
          words = ["ssh-keyscan", "-t#{new_resource.key_type}", "-p #{new_resource.port}"]
          words << "-H" if new_resource.hash_entries
          shell_out!([*words, new_resource.host].join(" "), timeout: new_resource.timeout).stdout
        end

        # The one template of the run that all entries go to.
        def known_hosts
          given = new_resource
          with_run_context :root do
            find_resource(:template, "update ssh known hosts file #{given.file_location}") do
              source Builtin.template("ssh_known_hosts")
              local true
              path given.file_location
              owner given.owner
              group given.group
              mode given.mode
              action :nothing
              delayed_action :create
              backup false
              variables(entries: [])
            end
          end
        end
      end
    end
  end
end
