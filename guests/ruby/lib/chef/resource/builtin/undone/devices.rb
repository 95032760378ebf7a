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
end
