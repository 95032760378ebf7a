# frozen_string_literal: true

# `sudo`: a file below sudoers.d, which sudo itself must find correct.

class Chef
  class Resource
    class Sudo
      # What of the resource the file's template says.
      SHOWN = %i[host runas nopasswd noexec commands command_aliases defaults setenv env_keep_add env_keep_subtract].freeze

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

      action :create do
        check_properties
        install_in_container if docker?
        folder = "#{new_resource.config_prefix}/sudoers.d/"
        directory folder
        warn_if_unused
        path = "#{folder}#{new_resource.filename}"
        new_resource.template ? write_own_template(path) : write_rules(path)
      end

      action :delete do
        file "#{new_resource.config_prefix}/sudoers.d/#{new_resource.filename}" do
          action :delete
        end
      end

      # Names that the actions had in the sudo cookbook.
      { install: :create, remove: :delete }.each do |older, newer|
        action older do
          Chef::Log.warn("The sudo :#{older} action has been renamed :#{newer}. Please update your cookbook code for the new action")
          public_send(:"action_#{newer}")
        end
      end

      action_class do
        def check_properties
          people = !new_resource.users.empty? || !new_resource.groups.empty?
          kept = !new_resource.env_keep_add.empty? || !new_resource.env_keep_subtract.empty?
          unless people || kept || new_resource.template
            raise "You must specify users, groups, env_keep_add, env_keep_subtract, or template properties!"
          end
          return unless people && new_resource.template

          raise "You cannot specify users or groups properties and also specify a template. To use your own template pass in " \
                "all template variables using the variables property."
        end

        def install_in_container
          package "sudo" do
            not_if "which sudo"
          end
        end

        def warn_if_unused
          prefix = new_resource.config_prefix
          return if ::File.readlines("#{prefix}/sudoers").grep(/includedir/).any?

          Chef::Log.warn("#{new_resource.filename} will be rendered, but will not take effect because the #{prefix}/sudoers config " \
                         "lacks the includedir directive that loads configs from #{prefix}/sudoers.d/!")
        end

        def write_own_template(path)
          given = new_resource
          test = check_command(path)
          template path do
            source given.template
            mode "0440"
            variables given.variables
            verify test if test
            action :create
          end
        end

        def write_rules(path)
          given = new_resource
          test = check_command(path)
          template path do
            source Builtin.template("sudoer")
            local true
            mode "0440"
            variables(SHOWN.to_h { |name| [name, given.public_send(name)] }.merge(sudoer: (given.groups + given.users).join(",")))
            verify test if test
            action :create
          end
        end

        # How the new file is tried: beside the main one, or within what includes it already.
        def check_command(path)
          program = new_resource.visudo_binary
          main = "#{new_resource.config_prefix}/sudoers"
          return "cat #{main} | #{program} -cf - && #{program} -cf %{path}" if visudo? && ::File.exist?(path)

          "cat #{main} %{path} | #{program} -cf -" if visudo?
        end

        def visudo?
          return @visudo unless @visudo.nil?

          @visudo = ::File.exist?(new_resource.visudo_binary)
          return @visudo if @visudo

          Chef::Log.warn("The visudo binary cannot be found at '#{new_resource.visudo_binary}'. Skipping sudoer file validation. " \
                         "If visudo is on this system you can specify the path using the 'visudo_binary' property.")
          @visudo
        end
      end
    end
  end
end
