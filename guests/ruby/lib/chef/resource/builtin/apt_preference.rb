# frozen_string_literal: true

# `apt_preference`: which version of a package apt prefers.

class Chef
  class Resource
    class AptPreference
      FOLDER = "/etc/apt/preferences.d"

      action :add do
        add_preference if debian?
      end

      action :remove do
        path = preference_path
        if debian? && ::File.exist?(path)
          logger.debug "Un-pinning #{safe_name} from #{FOLDER}"
          file path do
            action :delete
          end
        end
      end

      action_class do
        # apt passes files over whose names have other letters.
        def safe_name = new_resource.package_name.tr(".", "_").gsub("*", "wildcard")
        def preference_path = "#{FOLDER}/#{safe_name}.pref"

        def add_preference
          directory FOLDER do
            mode "0755"
            action :create
          end
          remove_older_names
          text = preference
          file preference_path do
            mode "0644"
            content text
            action :create
          end
        end

        def preference
          <<~TEXT
            Package: #{new_resource.glob || new_resource.package_name}
            Pin: #{new_resource.pin}
            Pin-Priority: #{new_resource.pin_priority}
          TEXT
        end

        # Names that earlier versions gave their files.
        def remove_older_names
          name = new_resource.package_name
          older = [name]
          older.unshift("#{name}.pref") unless safe_name == name
          older.each do |one|
            next unless ::File.exist?("#{FOLDER}/#{one}")

            logger.warn "Replacing legacy #{one} with #{safe_name}.pref in #{FOLDER}"
            file "#{FOLDER}/#{one}" do
              action :delete
            end
          end
        end
      end
    end
  end
end
