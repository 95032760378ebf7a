# frozen_string_literal: true

# `sudo`: a file below sudoers.d. Its content must pass sudo's own check.

class Chef
  class Resource
    class Sudo
      # Ruby renders the template, so the host gets only the text.
      @wrun_host_names -= %i[template variables]

      property :config_prefix, String, default: lazy { wrun_settings_folder }

      def wrun_settings_folder
        { "smartos" => "/opt/local/etc", "mac_os_x" => "/private/etc", "freebsd" => "/usr/local/etc" }.fetch(node["platform_family"], "/etc")
      end

      def after_created
        super
        return unless visudo_path

        raise "The 'visudo_path' property from the sudo cookbook has been replaced with the 'visudo_binary' property. " \
              "The path is now more intelligently determined and for most users specifying the path should no longer be necessary. " \
              "If this resource still cannot determine the path to visudo then provide the absolute path to the binary with the " \
              "'visudo_binary' property."
      end

      def wrun_more_properties(context)
        template ? [Builtin.rendered(context, -> { wrun_own_rules })] : []
      end

      private

      def wrun_own_rules
        if !users.empty? || !groups.empty?
          raise "You cannot specify users or groups properties and also specify a template. To use your own template pass in " \
                "all template variables using the variables property."
        end
        Builtin.text_of(self, template, variables || {})
      end
    end
  end
end
