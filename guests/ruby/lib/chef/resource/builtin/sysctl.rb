# frozen_string_literal: true

# `sysctl`: a parameter of the kernel, now and at each start.

class Chef
  class Resource
    class Sysctl
      def after_created
        super
        return if node["os"] == "linux"

        raise "The sysctl resource requires Linux as it needs sysctl and the sysctl.d directory functionality."
      end

      # It is as it should be if the kernel and the file agree.
      load_current_value do
        running = shell_out!("sysctl -n -e #{key}").stdout.tr("\t", " ").strip
        kept = ::File.read("/etc/sysctl.d/#{wrun_file_name}")[/.* = (.*)/, 1]
        running == kept ? value(running) : current_value_does_not_exist!
      rescue SystemCallError, Mixlib::ShellOut::Error
        current_value_does_not_exist!
      end

      def wrun_file_name = "99-chef-#{key.tr("/", ".")}.conf"

      action :apply do
        converge_if_changed do
          shell_out!("sysctl #{"-e " if new_resource.ignore_error}-w \"#{new_resource.key}=#{new_resource.value}\"")
          keep_parameter
          load_parameters("sysctl #{"-e " if new_resource.ignore_error}-p")
        end
      end

      action :remove do
        path = file_path
        if ::File.exist?(path)
          converge_by "removing sysctl config at #{path}" do
            file path do
              action :delete
            end
            load_parameters("sysctl -p")
          end
        end
      end

      action_class do
        def file_path = "#{new_resource.conf_dir}/#{new_resource.wrun_file_name}"

        def keep_parameter
          lines = Array(new_resource.comment).map { |line| "# #{line.strip}" }
          lines << "#{new_resource.key} = #{new_resource.value}"
          directory new_resource.conf_dir
          file file_path do
            content lines.join("\n") << "\n"
          end
        end

        def load_parameters(line)
          execute "Load sysctl values" do
            command line
            default_env true
            action :run
          end
        end
      end
    end
  end
end
