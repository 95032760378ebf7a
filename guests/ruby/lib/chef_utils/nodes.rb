# frozen_string_literal: true

# Predicates that read the node's attributes: `debian?`, `ubuntu?`, `intel?` and others. Each accepts a node, and defaults to
# the node of the run.

module ChefUtils
  # Finds the node and the environment for the predicates.
  module Internal
    extend self

    private

    def __getnode(skip_global = false)
      return node if respond_to?(:node) && node
      return run_context&.node if respond_to?(:run_context) && run_context&.node
      return if skip_global

      Chef.run_context&.node
    end

    def __env_path = ENV["PATH"] || ""
    def __transport_connection = nil
    def __config = Chef::Config
    def __log = Chef::Log
  end

  module DSL
    # Defines predicates that compare one attribute with values.
    module Asking
      def ask(attribute, questions)
        questions.each do |names, values|
          values = Array(values)
          first, *others = names
          define_method(first) { |node = __getnode| !node.nil? && values.include?(Asking.value(node, attribute)) }
          others.each { |other| alias_method other, first }
        end
      end

      def self.value(node, attribute)
        attribute.inject(node) { |at, key| at.nil? ? nil : at[key] }
      end
    end

    module PlatformFamily
      extend Asking
      include Internal

      ask %w[platform_family],
          %i[arch? arch_linux?] => "arch", %i[aix?] => "aix", %i[debian?] => "debian", %i[fedora?] => "fedora",
          %i[macos? osx? mac? mac_os_x?] => "mac_os_x", %i[rhel? el?] => "rhel", %i[amazon? amazon_linux?] => "amazon",
          %i[solaris2? solaris?] => "solaris2", %i[smartos?] => "smartos", %i[suse?] => "suse", %i[gentoo?] => "gentoo",
          %i[freebsd?] => "freebsd", %i[openbsd?] => "openbsd", %i[netbsd?] => "netbsd", %i[dragonflybsd?] => "dragonflybsd",
          %i[windows?] => "windows", %i[rpm_based?] => %w[rhel fedora amazon suse], %i[fedora_derived?] => %w[rhel fedora amazon],
          %i[redhat_based?] => %w[rhel fedora]
      ask %w[platform],
          %i[solaris_based?] => %w[solaris2 smartos omnios openindiana], %i[bsd_based?] => %w[netbsd freebsd openbsd dragonflybsd]

      (6..9).each do |major|
        define_method(:"rhel#{major}?") { |node = __getnode| rhel?(node) && node["platform_version"].to_f.floor == major }
      end

      def macos_ruby? = false
      def windows_ruby? = false
      extend self
    end

    module Platform
      extend Asking
      include Internal

      ask %w[platform],
          %i[linuxmint_platform? mint? linux_mint? linuxmint?] => "linuxmint", %i[ubuntu_platform? ubuntu?] => "ubuntu",
          %i[raspbian_platform? raspbian?] => "raspbian", %i[debian_platform?] => "debian", %i[amazon_platform?] => "amazon",
          %i[redhat_platform? redhat_enterprise? redhat_enterprise_linux? redhat?] => "redhat",
          %i[centos_platform? centos?] => "centos", %i[oracle_platform? oracle_linux? oracle?] => "oracle",
          %i[scientific_platform? scientific_linux? scientific?] => "scientific", %i[clearos_platform? clearos?] => "clearos",
          %i[fedora_platform?] => "fedora", %i[arch_platform?] => "arch", %i[solaris2_platform?] => "solaris2",
          %i[smartos_platform?] => "smartos", %i[omnios_platform? omnios?] => "omnios",
          %i[openindiana_platform? openindiana?] => "openindiana", %i[aix_platform?] => "aix",
          %i[freebsd_platform?] => "freebsd", %i[openbsd_platform?] => "openbsd", %i[netbsd_platform?] => "netbsd",
          %i[dragonfly_platform?] => "dragonfly", %i[macos_platform? mac_os_x_platform?] => "mac_os_x",
          %i[gentoo_platform?] => "gentoo", %i[slackware_platform?] => "slackware", %i[suse_platform?] => "suse",
          %i[opensuse_platform? opensuse? opensuseleap_platform? leap_platform?] => %w[opensuse opensuseleap],
          %i[windows_platform?] => "windows"

      def centos_stream_platform?(node = __getnode)
        node["os_release"] ? node.dig("os_release", "name") == "CentOS Stream" : node.dig("lsb", "id") == "CentOSStream"
      end
      extend self
    end

    module OS
      extend Asking
      include Internal

      ask %w[os], %i[linux?] => "linux", %i[darwin?] => "darwin"
      extend self
    end

    module Architecture
      extend Asking
      include Internal

      ask %w[kernel machine],
          %i[_64_bit?] => %w[amd64 x86_64 ppc64 ppc64le s390x ia64 sparc64 aarch64 arch64 arm64 sun4v sun4u],
          %i[intel?] => %w[i86pc i386 x86_64 amd64 i686], %i[sparc?] => %w[sun4u sun4v], %i[ppc64?] => "ppc64",
          %i[ppc64le?] => "ppc64le", %i[powerpc?] => "powerpc", %i[arm?] => %w[armv6l armv7l armhf aarch64 arm64 arch64],
          %i[armhf?] => %w[armv6l armv7l armhf], %i[s390x?] => "s390x", %i[s390?] => "s390"

      def _32_bit?(node = __getnode) = !_64_bit?(node)
      def i386?(node = __getnode) = _32_bit?(node) && intel?(node)
      extend self
    end

    module Cloud
      include Internal

      {
        alibaba: [], ec2: [], gce: [], rackspace: [], eucalyptus: [:euca], linode: [], openstack: [], azure: [],
        digital_ocean: [:digitalocean], softlayer: []
      }.each do |name, others|
        define_method(:"#{name}?") { |node = __getnode| node.key?(name.name) }
        others.each { |other| alias_method :"#{other}?", :"#{name}?" }
      end

      def cloud?(node = __getnode) = !node["cloud"].nil?
      extend self
    end

    module Virtualization
      include Internal

      %w[kvm lxc parallels vbox vmware openvz hyperv].each do |name|
        define_method(:"#{name}?") { |node = __getnode| __virtualized?(node, name, "guest") }
        define_method(:"#{name}_host?") { |node = __getnode| __virtualized?(node, name, "host") }
      end
      alias virtualbox? vbox?

      def guest?(node = __getnode) = node&.dig("virtualization", "role") == "guest"
      alias virtual? guest?
      def hypervisor?(node = __getnode) = node&.dig("virtualization", "role") == "host"
      def physical?(node = __getnode) = !virtual?(node)

      def vmware_desktop?(node = __getnode) = vmware?(node) && node.dig("vmware", "host", "type") == "vmware_desktop"
      def vmware_vsphere?(node = __getnode) = vmware?(node) && node.dig("vmware", "host", "type") == "vmware_vsphere"

      def vagrant?(node = __getnode)
        node.key?("vagrant") || node["domain"].to_s.include?("vagrantup.com") || __user?("vagrant")
      end

      private

      def __virtualized?(node, system, role)
        node&.dig("virtualization", "system") == system && node.dig("virtualization", "role") == role
      end

      def __user?(name)
        !Etc.getpwnam(name).nil?
      rescue StandardError
        false
      end
      extend self
    end

    module PlatformVersion
      include Internal

      def platform_version(node = __getnode) = ChefUtils::VersionString.new(node["platform_version"])
      extend self
    end

    module Windows
      include Internal

      def windows_server_core?(node = __getnode) = node["kernel"]["server_core"] == true
      def windows_workstation?(node = __getnode) = node["kernel"]["product_type"] == "Workstation"
      def windows_server?(node = __getnode) = node["kernel"]["product_type"] == "Server"
      def windows_nt_version(node = __getnode) = ChefUtils::VersionString.new(node["os_version"])
      def powershell_version(node = __getnode) = ChefUtils::VersionString.new(node["languages"]["powershell"]["version"])
      extend self
    end
  end
end
