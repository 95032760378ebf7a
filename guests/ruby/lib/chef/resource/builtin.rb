# frozen_string_literal: true

# Adds Ruby code to types whose actions consist of other resources: hooks for types that the host runs, and actions for the
# others. As for all built-in types, the properties come from the host's schema.

require_relative "../http"
require_relative "../mixin/shell_out"
require_relative "../mixin/homebrew"

class Chef
  class Resource
    module Builtin
      # Returns the path of a template of this library.
      def self.template(name) = "#{__dir__}/builtin/templates/#{name}.erb"

      # Returns a property for the host: the content of a file from a template of the cookbook. The host requests it right
      # before the action, if the action writes the file.
      def self.rendered(context, text)
        ["content", ["rendered", Wrun::Turns.keep(context, text)]]
      end

      # Renders a template of the cookbook for a resource.
      def self.text_of(resource, name, variables)
        template = Resource::Template.new(resource.name, resource.run_context)
        template.cookbook_name = resource.cookbook_name
        template.recipe_name = resource.recipe_name
        template.source(name)
        template.variables(variables)
        Chef::Template::Rendering.content(template)
      end
    end
  end
end

%w[
  alternatives apt_repository breakpoint build_essential chef_handler cron_d
  hostname locale ohai_hint openssl ssh_known_hosts_entry sudo sysctl
  user_ulimit yum_repository
].each { |name| require_relative "builtin/#{name}" }
