# frozen_string_literal: true

# Looks up libraries by name: Chef's own libraries, gems that the runtime has, and libraries that the sandbox cannot have.

module Wrun
  module Machine
    module Libraries
      # The reason why a library is absent, by the first part of its name or by its whole name.
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
        "win32" => "is not Windows",
        "win32ole" => "is not Windows",
        "drb" => "has no sockets",
        "webrick" => "has no sockets",
        "net/ssh" => "has no sockets",
        "net-ssh" => "has no sockets",
        "net/scp" => "has no sockets",
        "net-scp" => "has no sockets",
        "net/sftp" => "has no sockets",
        "net-sftp" => "has no sockets",
        "net/ldap" => "has no sockets",
        "net-ldap" => "has no sockets",
        "winrm" => "has no sockets",
        "mongo" => "has no sockets",
        "redis" => "has no sockets",
        "bunny" => "has no sockets",
        "eventmachine" => "has no sockets and calls no foreign libraries",
        "augeas" => "calls no foreign libraries",
        "rugged" => "calls no foreign libraries",
        "oj" => "calls no foreign libraries",
        "yajl" => "calls no foreign libraries",
        "bcrypt" => "calls no foreign libraries",
        "rest-client" => "has no such gem: Net::HTTP and Chef::HTTP are answered by the host",
        "rest_client" => "has no such gem: Net::HTTP and Chef::HTTP are answered by the host"
      }.freeze

      # The programs of the node that do what a library does, by its first part or its whole name.
      PROGRAMS = {
        "net/ssh" => "ssh", "net-ssh" => "ssh", "net/scp" => "scp", "net-scp" => "scp", "net/sftp" => "sftp", "net-sftp" => "sftp",
        "net/ldap" => "ldapsearch", "net-ldap" => "ldapsearch", "pg" => "psql", "mysql2" => "mysql", "mysql" => "mysql",
        "sqlite3" => "sqlite3", "mongo" => "mongosh", "redis" => "redis-cli", "nokogiri" => "xmllint", "augeas" => "augtool",
        "rugged" => "git"
      }.freeze

      # The hint about a library that is absent for no special reason.
      TRAVELS = "a gem of plain Ruby can travel with the policy: name it in metadata.rb and put it into `gems/`; " \
                "a gem with C parts does not run in the sandbox"

      # Chef's own libraries, each with the module that its files define, or nil. They are loaded already.
      BESIDE = {
        "chef" => "Chef", "chef-utils" => "ChefUtils", "chef_utils" => "ChefUtils", "chef-config" => "ChefConfig",
        "chef_config" => "ChefConfig", "chef-vault" => "ChefVault", "mixlib" => "Mixlib", "ohai" => "Ohai",
        "addressable" => nil, "license_acceptance" => nil
      }.freeze

      # Files below `chef/` whose names differ from the classes that they define. The runtime has these classes.
      CALLED_OTHERWISE = %w[
        applications chef_class constants deprecated deprecation/warnings mixins providers reserved_names resources
        version_class monkey_patches/net-http monkey_patches/webrick-utils mixin/unformatter
        platform/provider_handler_map platform/provider_mapping platform/query_helpers platform/resource_handler_map
        node/attribute node/attribute_collections node/immutable_collections node/mixin/deep_merge_cache
        node/mixin/immutablize_array node/mixin/immutablize_hash node/mixin/mashy_array node/mixin/state_tracking
        resource_collection/resource_collection_serialization resource_collection/resource_list
        resource_collection/resource_set resource_collection/stepable_iterator run_context/cookbook_compiler
        run_list/run_list_expansion run_list/versioned_recipe_list cookbook_loader cookbook/chefignore
        cookbook/cookbook_collection cookbook/cookbook_version_loader cookbook/file_system_file_vendor cookbook/file_vendor
        resource/conditional_action_not_nothing resource/resource_notification resource_builder run_context
        encrypted_data_bag_item/assertions encrypted_data_bag_item/decryptor encrypted_data_bag_item/encryptor
        encrypted_data_bag_item/encryption_failure http/json_input http/json_output http/basic_client
      ].to_h { |name| [name, true] }.freeze

      # Gems that many cookbooks name, with a version in the runtime. A gem that travels with the policy takes precedence.
      OWN = {
        "deepsort" => "deepsort", "docker" => "docker", "docker-api" => "docker", "inifile" => "inifile",
        "iniparse" => "iniparse", "ipaddress" => "ipaddress", "toml-rb" => "toml-rb"
      }.freeze

      private_constant :LACKING, :PROGRAMS, :TRAVELS, :BESIDE, :CALLED_OTHERWISE, :OWN

      class << self
        # Returns true if a name belongs to a file of Chef or its libraries that is loaded already.
        def of_chef?(name)
          root, *parts = name.delete_suffix(".rb").split("/")
          return false unless BESIDE.key?(root)

          scope = BESIDE[root] && Object.const_get(BESIDE[root])
          scope.nil? || parts.empty? || constant?(scope, parts) || (root == "chef" && otherwise?(scope, parts))
        end

        # Returns the runtime's own file that replaces a gem's file, or nil.
        def own(name) = OWN[name] && "wrun/gems/#{OWN[name]}"

        # Returns true if a gem need not travel: the runtime has its own version, or the gem comes with Ruby.
        def has?(gem)
          return true if OWN.key?(gem) || BESIDE.include?(gem)

          [gem, gem.tr("-", "/")].uniq.any? { |name| $LOAD_PATH.resolve_feature_path(name) }
        end

        # Returns the error for a library that the sandbox cannot have, or nil for any other library.
        def refusal(name)
          why = LACKING[name] || LACKING[name.split("/").first] || why_not_of_chef(name) or return

          error = LoadError.new("cannot load such file -- #{name} (the sandbox that policies run in #{why})")
          error.instance_variable_set(:@path, name)
          error
        end

        # Returns what an author can do about an absent library, or nil.
        def advice(name)
          program = PROGRAMS[name] || PROGRAMS[name.split("/").first]
          return "the program `#{program}` of the node can be run by an `execute` resource or `shell_out`" if program

          root = name.split("/").first
          TRAVELS unless name.match?(%r{\A[/~.]}) || LACKING.key?(name) || LACKING.key?(root) || BESIDE.key?(root)
        end

        private

        # Returns true if the constant that a file is named after exists: `Chef::Mixin::ShellOut` for `chef/mixin/shell_out`.
        def constant?(scope, parts)
          parts.all? do |part|
            plain = part.delete("_-").downcase
            found = scope.is_a?(Module) && scope.constants.find { |name| name.name.delete("_").downcase == plain }
            scope = found && scope.const_get(found)
          end
        end

        # Returns true for names in `CALLED_OTHERWISE`, and for names with extra folders: `chef/resource/scm/git` defines
        # `Chef::Resource::Git`.
        def otherwise?(scope, parts)
          CALLED_OTHERWISE.key?(parts.join("/")) || (parts.size > 2 && constant?(scope, [parts.first, parts.last]))
        end

        def why_not_of_chef(name)
          return unless BESIDE.key?(name.split("/").first)

          name.match?(%r{/win(?:32|dows)(?:/|\z)}) ? "is not Windows" : "does not have this part of Chef"
        end
      end
    end
  end
end
