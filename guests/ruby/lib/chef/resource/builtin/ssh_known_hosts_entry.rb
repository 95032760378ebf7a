# frozen_string_literal: true

# `ssh_known_hosts_entry`: a host key for the ssh clients of all users. All entries of a run are written together at its end.

class Chef
  class Resource
    class SshKnownHostsEntry
      property :group, [String, Integer], default: lazy { node["root_group"] }
    end
  end
end
