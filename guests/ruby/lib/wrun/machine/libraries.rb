# frozen_string_literal: true

# Libraries by name: those that every cookbook finds in Chef, gems that travel with a policy, and those that a sandbox
# cannot have.

module Wrun
  module Machine
    module Libraries
      # Why a library is not there, by the first part of its name or all of it.
      LACKING = {
        "io/console" => "has no terminal",
        "pty" => "has no terminal",
        "readline" => "has no terminal",
        "reline" => "has no terminal",
        "curses" => "has no terminal",
        "ffi" => "calls no foreign libraries",
        "fiddle" => "calls no foreign libraries",
        "bigdecimal" => "calls no foreign libraries",
        "dbus" => "has no sockets and calls no foreign libraries",
        "pg" => "calls no foreign libraries",
        "mysql2" => "calls no foreign libraries",
        "mysql" => "calls no foreign libraries",
        "sqlite3" => "calls no foreign libraries",
        "nokogiri" => "calls no foreign libraries",
        "bundler" => "installs and looks for no gems",
        "win32" => "is no Windows",
        "win32ole" => "is no Windows",
        "drb" => "has no sockets",
        "webrick" => "has no sockets",
        "rest-client" => "has no such gem: Net::HTTP and Chef::HTTP are answered by the host",
        "rest_client" => "has no such gem: Net::HTTP and Chef::HTTP are answered by the host"
      }.freeze

      # What lies in Chef's library folder, by the first part of the name. All of it that there is here is loaded.
      CHEF = %w[
        action_collection api_client application attribute_allowlist attribute_blocklist chef_class client compliance config
        constants cookbook cookbook_loader cookbook_manifest cookbook_version data_bag data_bag_item data_collector decorator
        delayed_evaluator deprecated digester dsl encrypted_data_bag_item environment event_dispatch exceptions
        file_access_control file_cache file_content_management formatters guard_interpreter handler http json_compat key log mash
        mixin mixins monkey_patches node node_map null_logger org platform policy_builder property provider provider_resolver
        providers recipe resource resource_builder resource_collection resource_definition resource_inspector
        resource_reporter resource_resolver resources role run_context run_list run_status runner search secret_fetcher
        server_api shell user util version version_class version_constraint version_string win32
      ].to_h { |name| [name, true] }.freeze

      # Chef's other libraries, which are loaded with it.
      BESIDE = %w[chef chef-utils chef_utils chef-config chef_config mixlib ohai addressable license_acceptance].freeze

      # Gems that many cookbooks name and that the runtime has in a version of its own, unless one travels with the policy.
      OWN = {
        "deepsort" => "deepsort", "docker" => "docker", "docker-api" => "docker", "inifile" => "inifile",
        "iniparse" => "iniparse", "ipaddress" => "ipaddress", "toml-rb" => "toml-rb"
      }.freeze

      private_constant :LACKING, :CHEF, :BESIDE, :OWN

      class << self
        def of_chef?(name)
          first, second = name.delete_suffix(".rb").split("/", 3)
          return CHEF.key?(second) if first == "chef" && second

          BESIDE.include?(first)
        end

        # The runtime's own file for a gem's, or nil.
        def own(name) = OWN[name] && "wrun/gems/#{OWN[name]}"

        # Whether a gem is there without travelling: the runtime has a version of its own, or it comes with Ruby.
        def has?(gem)
          return true if OWN.key?(gem) || BESIDE.include?(gem)

          [gem, gem.tr("-", "/")].uniq.any? { |name| $LOAD_PATH.resolve_feature_path(name) }
        end

        # The error for a library that cannot be there; nil for one of which that is not known.
        def refusal(name)
          why = LACKING[name] || LACKING[name.split("/").first] or return

          error = LoadError.new("cannot load such file -- #{name} (the sandbox that policies run in #{why})")
          error.instance_variable_set(:@path, name)
          error
        end
      end
    end
  end
end
