# frozen_string_literal: true

# `user_ulimit`: the limits of a user's processes, in a file below /etc/security/limits.d.

class Chef
  class Resource
    class UserUlimit
      property :filename, String, default: lazy { |resource| resource.username == "*" ? "00_all_limits.conf" : "#{resource.username}_limits.conf" },
                                  coerce: proc { |name| name.end_with?(".conf") ? name : "#{name}.conf" }
    end
  end
end
