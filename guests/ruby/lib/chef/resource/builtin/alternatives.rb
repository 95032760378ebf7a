# frozen_string_literal: true

# `alternatives`: which of several programs a name stands for.

class Chef
  class Resource
    class Alternatives
      property :link, String, default: lazy { |resource| "/usr/bin/#{resource.link_name}" }

      action :install do
        words = [new_resource.link, new_resource.link_name, new_resource.path, new_resource.priority]
        if known_priority != new_resource.priority
          converge_by("adding alternative #{words.join(" ")}") do
            done = tell("--install", *words)
            raise "failed to add alternative #{words.join(" ")}" unless done.exitstatus.zero?
          end
        end
      end

      action :set do
        words = [new_resource.link_name, new_resource.path]
        if current_path != new_resource.path
          converge_by("setting alternative #{words.join(" ")}") do
            done = tell("--set", *words)
            raise "failed to set alternative #{words.join(" ")} \n #{done.stdout.strip}" unless done.exitstatus.zero?
          end
        end
      end

      action :remove do
        words = [new_resource.link_name, new_resource.path]
        converge_by("removing alternative #{words.join(" ")}") { tell("--remove", *words) } if displayed.include?("#{new_resource.path} - priority")
      end

      action :auto do
        converge_by("setting auto alternative #{new_resource.link_name}") { tell("--auto", new_resource.link_name) }
      end

      action :refresh do
        converge_by("refreshing alternative #{new_resource.link_name}") { tell("--refresh", new_resource.link_name) }
      end

      action_class do
        include Builtin::Questions

        def program = debian? ? "update-alternatives" : "alternatives"
        def tell(*words) = shell_out(program, *words)
        def displayed = printed(program, "--display", new_resource.link_name)
        def current_path = displayed[/link currently points to (.*)/, 1]
        def known_priority = displayed[/#{Regexp.escape("#{new_resource.path} - priority ")}(.*)/, 1]&.to_i

        def define_resource_requirements
          name, path = new_resource.link_name, new_resource.path
          requirements.assert(:install) do |given|
            given.assertion { !new_resource.priority.nil? }
            given.failure_message("Could not set alternatives for #{name}, you must provide the :priority property")
          end

          requirements.assert(:install, :set, :remove) do |given|
            given.assertion { !path.nil? }
            given.failure_message("Could not set alternatives for #{name}, you must provide the :path property")
          end

          requirements.assert(:install, :set, :remove) do |there|
            there.assertion { ::File.exist?(path) }
            there.whyrun("Assuming file #{path} already exists or was created already")
            there.failure_message("Could not set alternatives for #{name}, missing #{path}")
          end
        end
      end
    end
  end
end
