# frozen_string_literal: true

# `apt_repository`: where apt finds packages, and the keys it trusts for them.

require "uri"
require_relative "apt_repository_keys"

class Chef
  class Resource
    class AptRepository
      SOURCES = "/etc/apt/sources.list.d"
      KEYRINGS = "/etc/apt/keyrings"

      property :distribution, [String, nil, false], default: lazy { node["lsb"]["codename"] }

      action :add do
        add_repository if debian?
      end

      action :remove do
        remove_repository if debian?
      end

      action_class do
        include Builtin::Questions
        include AptKeys

        def keyring_path = "#{KEYRINGS}/#{new_resource.repo_name}.gpg"
        def list_path = "#{SOURCES}/#{new_resource.repo_name}.list"
        def cookbook_name = new_resource.cookbook || new_resource.cookbook_name

        def add_repository
          declare_refreshing
          install_keys
          remove_older_name
          given = new_resource
          text = repository_lines
          file list_path do
            owner "root"
            group "root"
            mode "0644"
            content text
            sensitive given.sensitive
            action :create
            notifies :run, "execute[apt-cache gencaches]", :immediately
            notifies :update, "apt_update[#{given.name}]", :immediately if given.cache_rebuild
          end
        end

        def declare_refreshing
          execute "apt-cache gencaches" do
            command %w[apt-cache gencaches]
            default_env true
            ignore_failure true
            action :nothing
          end

          declare_update
        end

        def declare_update
          apt_update new_resource.name do
            ignore_failure true
            action :nothing
          end
        end

        def remove_repository
          remove_older_name
          path = list_path
          return logger.debug("#{path} does not exist. Nothing to do") unless ::File.exist?(path)

          converge_by "Removing #{new_resource.repo_name} repository from #{SOURCES}/" do
            declare_update
            remove_files(path)
          end
        end

        def remove_files(path)
          given = new_resource
          file keyring_path do
            sensitive given.sensitive
            action :delete
          end

          file path do
            sensitive given.sensitive
            action :delete
            notifies :update, "apt_update[#{given.name}]", :immediately if given.cache_rebuild
          end
        end

        # Files were named by the resource's name once.
        def remove_older_name
          older = "#{SOURCES}/#{new_resource.name}.list"
          return if new_resource.name == new_resource.repo_name || !::File.exist?(older)

          converge_by "Cleaning up legacy #{older} repo file" do
            file older do
              action :delete
            end
          end
        end

        def repository_lines
          archive = personal? ? archive_url : new_resource.uri
          about = [options_text, normalized(archive), new_resource.distribution, components.join(" ")].compact.join(" ")
          lines = ["deb      #{about}\n"]
          lines << "deb-src  #{about}\n" if new_resource.deb_src
          lines.join
        end

        def options_text
          signed_by = new_resource.signed_by
          signed_by = keyring_path if signed_by == true
          options = []
          options << "arch=#{new_resource.arch}" if new_resource.arch
          options << "trusted=yes" if new_resource.trusted
          options << "signed-by=#{signed_by}" if signed_by
          options.concat(new_resource.options)
          "[#{options.join(" ")}]" unless options.empty?
        end

        # As its scheme and host are compared: in lower case, with a path.
        def normalized(uri)
          URI.parse(uri).normalize.to_s
        rescue URI::InvalidURIError
          uri
        end

        # Somebody's own archive at Launchpad.
        def personal? = new_resource.uri.start_with?("ppa:")
        def components = personal? && new_resource.components.empty? ? ["main"] : new_resource.components

        def archive_url
          owner, name = new_resource.uri.delete_prefix("ppa:").split("/")
          name ||= "ppa"
          install_archive_key(owner, name)
          "http://ppa.launchpad.net/#{owner}/#{name}/ubuntu"
        end
      end
    end
  end
end
