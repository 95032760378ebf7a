# frozen_string_literal: true

# Defines the names of Chef's own providers. A cookbook may choose one by name (`provider Chef::Provider::Service::Systemd`).
# In wrun the host runs the action and chooses the provider by the machine.

require_relative "../provider"

class Chef
  class Provider
    # The placeholder for a provider of the host.
    class OfHost < Provider
      class << self
        # Returns true only for a cookbook's subclass, which runs in Ruby.
        def wrun_acts? = !@wrun_of_host

        def stand_for(scope, name, above)
          return if scope.const_defined?(name, false)

          type = Class.new(above)
          type.instance_variable_set(:@wrun_of_host, true)
          scope.const_set(name, type)
        end
      end
    end

    %w[
      Service Package User Group Mount Cron File Directory Link Execute Script RemoteFile RemoteDirectory CookbookFile Template
      Git Subversion Log Ifconfig Route HttpRequest Deploy SystemdUnit
    ].each { |name| OfHost.stand_for(self, name, OfHost) }

    {
      Service => %w[
        Aix Arch Debian Freebsd Gentoo Init Insserv Invokercd Macosx Openbsd Redhat Simple Solaris Systemd Upstart Windows
      ],
      Package => %w[
        Apt Bff Cab Chocolatey Deb Dnf Dpkg FreebsdPackage Homebrew Ips Macports Msu Openbsd Pacman Paludis Portage Powershell
        Rpm Rubygems Smartos Snap Solaris Windows Yum Zypper
      ],
      User => %w[Aix Dscl Linux Mac Pw Solaris Useradd Windows],
      Group => %w[Aix Dscl Gpasswd Groupadd Groupmod Pw Solaris Suse Usermod Windows],
      Mount => %w[Aix Linux Mount Solaris Windows],
      Cron => %w[Aix Solaris Unix],
    }.each { |scope, names| names.each { |name| OfHost.stand_for(scope, name, scope) } }
  end
end
