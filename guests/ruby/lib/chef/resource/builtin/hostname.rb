# frozen_string_literal: true

# `hostname`: the machine's name, now, at its next start and in /etc/hosts.

class Chef
  class Resource
    class Hostname
      property :ipaddress, [String, nil], default: lazy { node["ipaddress"] }
      property :compile_time, [true, false], default: true, desired_state: false
    end
  end
end
