# frozen_string_literal: true

# `apt_update`: fetches the lists of packages, at once or once in a while.

class Chef
  class Resource
    class AptUpdate
      STAMPS = "/var/lib/apt/periodic"
      SETTINGS = "/etc/apt/apt.conf.d"

      action :periodic do
        if debian? && !fresh?
          converge_by("update new lists of packages") { update_lists }
        end
      end

      action :update do
        converge_by("force update new lists of packages") { update_lists } if debian?
      end

      action_class do
        def stamp = "#{STAMPS}/update-success-stamp"
        def fresh? = ::File.exist?(stamp) && ::File.mtime(stamp) > Time.now - new_resource.frequency

        def update_lists
          [STAMPS, SETTINGS].each do |folder|
            directory folder do
              recursive true
            end
          end

          touch = "touch #{stamp} 2>/dev/null || true"
          file "#{SETTINGS}/15update-stamp" do
            content "APT::Update::Post-Invoke-Success {\"#{touch}\";};\n"
            action :create_if_missing
          end

          execute "apt-get -q update" do
            command %w[apt-get -q update]
            default_env true
          end
        end
      end
    end
  end
end
