# frozen_string_literal: true

# What Ruby adds to types whose actions are made of other resources: hooks of those for which the host acts, and the actions
# of those that the host does not have. What each may be given comes from the host's schema, as for all built-in types.

require_relative "../http"
require_relative "../mixin/shell_out"
require_relative "../mixin/homebrew"

class Chef
  class Resource
    module Builtin
      # The path of one of our own templates.
      def self.template(name) = "#{__dir__}/builtin/templates/#{name}.erb"

      # The text of a file that a template of the cookbook makes, as a property for the host. It is asked for right before the
      # action, where the action writes the file.
      def self.rendered(context, text)
        ["content", ["rendered", Wrun::Turns.keep(context, text)]]
      end

      # What a template of the cookbook makes for a resource.
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
