# frozen_string_literal: true

# SELinux. They may be declared; to act for them wrun has nothing.

Chef::Resource::Undone.fill do
  type :selinux_boolean, %i[set] do
    property :boolean, String, name_property: true
    property :value, [Integer, String, true, false], required: true
    property :persistent, [true, false], default: true, desired_state: false
  end

  type :selinux_fcontext, %i[manage addormodify add modify delete] do
    property :file_spec, String, name_property: true
    property :secontext, String, required: %i[add modify manage]
    property :file_type, String, equal_to: ["a", "f", "d", "c", "b", "s", "l", "p"], default: "a"
  end

  type :selinux_install, %i[install upgrade remove] do
    property :packages, [String, Array]
  end

  type :selinux_login, %i[manage add modify delete] do
    property :login, String, name_property: true
    property :user, String
    property :range, String
  end

  type :selinux_module, %i[create delete install remove] do
    property :module_name, String, name_property: true
    property :source, String
    property :content, String
    property :cookbook, String, desired_state: false
    property :base_dir, String, default: "/etc/selinux/local"
  end

  type :selinux_permissive, %i[add delete] do
    property :context, String, name_property: true
  end

  type :selinux_port, %i[manage addormodify add modify delete] do
    property :port, [Integer, String], name_property: true
    property :protocol, String, required: %i[manage add modify], equal_to: ["tcp", "udp"]
    property :secontext, String, required: %i[manage add modify]
  end

  type :selinux_state, %i[enforcing permissive disabled], default: :nothing do
    property :config_file, String, default: "/etc/selinux/config"
    property :persistent, [true, false], default: true
    property :policy, String, equal_to: ["default", "minimum", "mls", "src", "strict", "targeted"]
    property :automatic_reboot, [true, false, Symbol], default: false
  end

  type :selinux_user, %i[manage add modify delete] do
    property :user, String, name_property: true
    property :level, String
    property :range, String
    property :roles, Array
  end
end
