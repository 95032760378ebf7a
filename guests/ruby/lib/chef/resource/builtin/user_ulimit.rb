# frozen_string_literal: true

# `user_ulimit`: what a user's processes may use, in a file below /etc/security/limits.d.

class Chef
  class Resource
    class UserUlimit
      # What the limits are called there: those with a soft and a hard one, and those that are one for both.
      BOTH = {
        as: "as", cpu: "cpu", filehandle: "nofile", process: "nproc", maxlogins: "maxlogins", msgqueue: "msgqueue", core: "core",
        sigpending: "sigpending", stack: "stack", rss: "rss", rtprio: "rtprio"
      }.freeze
      SINGLE = { locks: "locks", memory: "memlock", virt: "as" }.freeze

      property :filename, String, default: lazy { |resource| resource.username == "*" ? "00_all_limits.conf" : "#{resource.username}_limits.conf" },
                                  coerce: proc { |name| name.end_with?(".conf") ? name : "#{name}.conf" }

      action :create do
        given = new_resource
        groups = limits
        template "/etc/security/limits.d/#{new_resource.filename}" do
          source Builtin.template("ulimit")
          local true
          mode "0644"
          sensitive given.sensitive
          variables(ulimit_user: given.username, groups: groups)
        end
      end

      action :delete do
        file "/etc/security/limits.d/#{new_resource.filename}" do
          action :delete
        end
      end

      action_class do
        # For each item its lines, in the file's order.
        def limits
          order = %i[as cpu filehandle process locks memory maxlogins msgqueue core sigpending stack rss rtprio virt]
          order.map { |item| SINGLE.key?(item) ? single(item) : both(item) }
        end

        def single(item)
          value = new_resource.public_send(:"#{item}_limit")
          # The last one stands further in.
          value.nil? ? "" : "#{"  " if item == :virt}#{line("-", SINGLE.fetch(item), value)}\n"
        end

        def both(item)
          name = BOTH.fetch(item)
          value = new_resource.public_send(:"#{item}_limit")
          return "#{line("-", name, value)}\n" unless value.nil?

          # A line for each of the two, whether or not there is such a limit.
          lines = %w[soft hard].map do |kind|
            limit = new_resource.public_send(:"#{item}_#{kind}_limit")
            limit.nil? ? "\n" : "#{line(kind, name, limit)}\n"
          end
          lines.join
        end

        def line(kind, name, value) = "#{new_resource.username} #{kind} #{name} #{value}"
      end
    end
  end
end
