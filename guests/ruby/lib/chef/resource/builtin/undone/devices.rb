# frozen_string_literal: true

# Disks and networks. They may be declared; to act for them wrun has nothing.

Chef::Resource::Undone.fill do
  type :mdadm, %i[create assemble stop] do
    property :chunk, Integer, default: 16
    property :devices, Array, default: []
    property :exists, [true, false], default: false
    property :level, Integer, default: 1
    property :metadata, String, default: "0.90"
    property :bitmap, String
    property :raid_device, String, name_property: true
    property :layout, String
  end

  type :ifconfig, %i[add delete enable disable] do
    property :target, String, name_property: true
    property :hwaddr, String
    property :mask, String
    property :family, String, default: "inet"
    property :inet_addr, String
    property :bcast, String
    property :mtu, String
    property :metric, String
    property :device, String, identity: true
    property :onboot, String
    property :network, String
    property :bootproto, String
    property :onparent, String
    property :ethtool_opts, String
    property :bonding_opts, String
    property :master, String
    property :slave, String
    property :vlan, String
    property :gateway, String
    property :bridge, String
  end

  type :route, %i[add delete] do
    property :target, String, name_property: true
    property :comment, [String, nil]
    property :metric, [Integer, nil]
    property :netmask, [String, nil]
    property :gateway, [String, nil]
    property :device, [String, nil], desired_state: false
    property :route_type, [Symbol, String], equal_to: %i[host net], coerce: proc { |kind| kind.to_s.to_sym }, default: :host, desired_state: false
  end
end
