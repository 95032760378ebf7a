# frozen_string_literal: true

# Implements `Chef::Util::Selinux`: tests whether SELinux is enabled, and restores a file's security context.

class Chef
  class Util
    module Selinux
      include Mixin::ShellOut if Mixin.const_defined?(:ShellOut)
      include Mixin::Which

      def selinux_enabled? = !!(enabled_command && shell_out(enabled_command, returns: [0, 1]).exitstatus.zero?)

      def restore_security_context(path, recursive = false)
        return Log.warn("Can not find \"restorecon\" on the system. Skipping selinux security context restore.") unless restorecon

        shell_out!([restorecon, recursive ? "-R" : nil, path].compact)
      end

      private

      def enabled_command = which("selinuxenabled") || nil
      def restorecon = which("restorecon") || nil
    end
  end
end
