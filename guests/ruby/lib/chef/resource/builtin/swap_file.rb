# frozen_string_literal: true

# `swap_file`: a file that the kernel swaps to.

class Chef
  class Resource
    class SwapFile
      MEBIBYTE = 1_048_576

      action :create do
        if enabled? then Chef::Log.debug("#{new_resource} already created - nothing to do")
        else make_somehow
        end
        set_swappiness if new_resource.swappiness
      end

      action :remove do
        path = new_resource.path
        converge_by("turn off swap for #{path}") { shell_out!("swapoff #{path}") } if enabled?
        converge_by("remove swap file #{path}") { ::File.unlink(path) } if ::File.exist?(path)
      end

      action_class do
        include Builtin::Questions

        def enabled? = printed("swapon --summary").match?(/^#{new_resource.path}\s+/)
        def slow_line = "dd if=/dev/zero of=#{new_resource.path} bs=#{MEBIBYTE} count=#{new_resource.size}"
        def fast_line = "fallocate -l #{MEBIBYTE * new_resource.size} #{new_resource.path}"

        # The fast way does not work on all file systems, whatever they are called.
        def make_somehow
          Chef::Log.debug "starting first create: #{node["virtualization"]["system"]}"
          make(fast? ? fast_line : slow_line)
        rescue Mixlib::ShellOut::ShellCommandFailed => error
          Chef::Log.warn("#{new_resource} Rescuing failed swapfile creation for #{new_resource.path}")
          Chef::Log.debug("#{new_resource} Exception when creating swapfile #{new_resource.path}: #{error}")
          make(slow_line)
        end

        def make(line)
          path = new_resource.path
          converge_by("create empty swapfile at #{path}") { shell_out!(line, timeout: new_resource.timeout) }
          converge_by("set permissions on #{path} to 600") { shell_out!("chmod 600 #{path}") }
          converge_by("make #{path} swappable") { shell_out!("mkswap -f #{path}") }
          converge_by("enable swap for #{path}") { shell_out!("swapon #{path}") }
          persist if new_resource.persist
        end

        def fast?
          return false if docker? || !::File.exist?(printed("which fallocate").chomp)

          folder = ::File.dirname(new_resource.path)
          printed("df -PT #{folder} | awk 'NR==2 {print $2}'").match?(/xfs|ext4/)
        end

        def persist
          return if whyrun_mode?

          table = "/etc/fstab"
          line = "#{new_resource.path} swap swap defaults 0 0"
          lines = ::File.readlines(table)
          return if lines.any? { |one| one.strip == line }

          Chef::Log.debug("#{new_resource} adding entry to #{table} for #{new_resource.path}")
          ::File.write(table, "#{lines.join}#{line}\n")
        end

        def set_swappiness
          wanted = new_resource.swappiness
          sysctl "vm.swappiness" do
            value wanted
          end
        end
      end
    end
  end
end
