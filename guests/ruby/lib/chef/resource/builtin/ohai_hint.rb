# frozen_string_literal: true

# `ohai_hint`: tells Ohai what it cannot find out by itself.

class Chef
  class Resource
    class OhaiHint
      FOLDER = "/etc/chef/ohai/hints"

      property :compile_time, [true, false], default: true, desired_state: false

      action :create do
        text = new_resource.content.to_h.empty? ? "" : JSON.pretty_generate(new_resource.content)
        directory FOLDER do
          action :create
          recursive true
        end

        file hint_path do
          action :create
          content text
        end
      end

      action :delete do
        file hint_path do
          action :delete
          notifies :reload, "ohai[reload ohai post hint removal]"
        end

        ohai "reload ohai post hint removal" do
          action :nothing
        end
      end

      action_class do
        def hint_path = "#{::File.join(FOLDER, new_resource.hint_name).delete_suffix(".json")}.json"
      end
    end
  end
end
