# frozen_string_literal: true

# Predicates that read files of the machine, within the policy's grants.

module ChefUtils
  module DSL
    module TrainHelpers
      include Internal

      def file_exist?(path) = File.exist?(path)
      def file_open(...) = File.open(...)
      def file_read(path) = File.read(path)
      def file_directory?(path) = File.directory?(path)
      def dir_exist?(path) = file_directory?(path)
      extend self
    end

    module Introspection
      include TrainHelpers

      UNIT_FOLDERS = %w[/etc /usr/lib /lib /run].freeze

      def effortless?(node = __getnode) = !!node&.read("chef_packages", "chef", "chef_effortless")
      def docker?(node = __getnode) = node&.read("virtualization", "systems", "docker") == "guest"
      def kitchen?(_node = nil) = ENV.key?("TEST_KITCHEN")
      def ci?(_node = nil) = ENV.key?("CI")

      # Returns true if the first process is systemd.
      def systemd?(_node = nil) = file_exist?("/proc/1/comm") && file_read("/proc/1/comm").chomp == "systemd"

      def has_systemd_service_unit?(name)
        has_systemd_unit?("#{name.gsub(/@.*$/, "@")}.service")
      end

      def has_systemd_unit?(name) = UNIT_FOLDERS.any? { |folder| file_exist?("#{folder}/systemd/system/#{name}") }
      def includes_recipe?(name, node = __getnode) = node.recipe?(name)
      alias include_recipe? includes_recipe?
      extend self
    end

    module Service
      include Introspection

      def debianrcd? = file_exist?("/usr/sbin/update-rc.d")
      def invokercd? = file_exist?("/usr/sbin/invoke-rc.d")
      def upstart? = file_exist?("/sbin/initctl")
      def insserv? = file_exist?("/sbin/insserv")
      def redhatrcd? = file_exist?("/sbin/chkconfig")

      def service_script_exist?(type, script)
        case type
        when :initd then file_exist?("/etc/init.d/#{script}")
        when :upstart then file_exist?("/etc/init/#{script}.conf")
        when :xinetd then file_exist?("/etc/xinetd.d/#{script}")
        when :etc_rcd then file_exist?("/etc/rc.d/#{script}")
        when :systemd
          file_exist?("/etc/init.d/#{script}") || has_systemd_service_unit?(script) || has_systemd_unit?(script)
        else
          raise ArgumentError, "type of service must be one of :initd, :upstart, :xinetd, :etc_rcd, or :systemd"
        end
      end
      extend self
    end

    module DefaultPaths
      include Internal

      USUAL = %w[/usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin].freeze

      def default_paths(environment = nil)
        given = (environment ? environment["PATH"] : __env_path) || ""
        (given.split(":") | USUAL).join(":")
      end

      def sanitized_path(environment = nil) = default_paths(environment)
      extend self
    end

    PathSanity = DefaultPaths

    module Which
      include Internal

      def which(*commands, prepend_path: nil, extra_path: nil, &block)
        where(*commands, prepend_path: prepend_path, extra_path: extra_path, &block).first || false
      end

      def where(*commands, prepend_path: nil, extra_path: nil, &block)
        folders = (Array(prepend_path) + __env_path.split(":") + Array(extra_path || __extra_path)).uniq
        commands.flat_map { |command| folders.map { |folder| File.join(folder, command) } }
                .select { |path| __valid_executable?(path, &block) }
      end

      private

      def __extra_path = nil

      def __valid_executable?(path)
        return false unless File.executable?(path) && !File.directory?(path)

        block_given? ? yield(path) : true
      end
      extend self
    end
  end
end
