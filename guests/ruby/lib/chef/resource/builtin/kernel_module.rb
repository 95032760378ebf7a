# frozen_string_literal: true

# `kernel_module`: which modules the kernel loads, and which it must not.

class Chef
  class Resource
    class KernelModule
      property :load_dir, String, default: "/etc/modules-load.d"

      action :install do
        declare_update
        action_enable
        write("options_", "options #{new_resource.modname} #{new_resource.options.join(" ")}\n", notify: false) unless new_resource.options.nil?
        action_load
        directory new_resource.load_dir do
          recursive true
        end
        write_at("#{new_resource.load_dir}/#{new_resource.modname}.conf", "#{new_resource.modname}\n", true)
      end

      action :uninstall do
        declare_update
        remove("#{new_resource.load_dir}/#{new_resource.modname}.conf", true)
        remove("#{new_resource.unload_dir}/blacklist_#{new_resource.modname}.conf", true)
        remove("#{new_resource.unload_dir}/options_#{new_resource.modname}.conf", false)
        action_unload
      end

      action :blacklist do
        declare_update
        write("blacklist_", "blacklist #{new_resource.modname}")
        action_unload
      end

      action :disable do
        declare_update
        write("disable_", "install #{new_resource.modname} /bin/false")
        action_unload
      end

      action :enable do
        declare_update
        remove("#{new_resource.unload_dir}/disable_#{new_resource.modname}.conf", true)
      end

      action :load do
        name = new_resource.modname
        converge_by("load kernel module #{name}") { shell_out!("modprobe #{name}") } unless loaded?
      end

      action :unload do
        name = new_resource.modname
        converge_by("unload kernel module #{name}") { shell_out!("modprobe -r #{name}") } if loaded?
      end

      action_class do
        def loaded? = ::File.read("/proc/modules").match?(/^#{new_resource.modname}/)

        # What the machine starts with is made anew once, at the end.
        def declare_update
          line = platform_family?("debian") ? "update-initramfs -u" : "dracut -f"
          with_run_context :root do
            find_resource(:execute, "update initramfs") do
              command line
              action :nothing
            end
          end
        end

        def write(prefix, text, notify: true)
          write_at("#{new_resource.unload_dir}/#{prefix}#{new_resource.modname}.conf", text, notify)
        end

        def write_at(path, text, notify)
          file path do
            content text
            notifies :run, "execute[update initramfs]", :delayed if notify
          end
        end

        def remove(path, notify)
          file path do
            action :delete
            notifies :run, "execute[update initramfs]", :delayed if notify
          end
        end
      end
    end
  end
end
