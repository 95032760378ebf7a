# frozen_string_literal: true

# `yum_repository`: a file that tells yum and dnf of a repository.

class Chef
  class Resource
    class YumRepository
      # Cookbooks for several distributions declare repositories where there is no yum: nothing is done there.
      action :create do
        if which("yum")
          write_repository
          declare_cache_commands if new_resource.make_cache
        end
      end

      action :delete do
        remove_repository if which("yum")
      end

      action :makecache do
        make_cache if which("yum")
      end

      # Older names.
      action(:add) { action_create }
      action(:remove) { action_delete }

      action_class do
        def repository_file = ::File.join(new_resource.reposdir, "#{new_resource.repositoryid}.repo")

        def remove_repository
          id = new_resource.repositoryid
          execute "yum clean all #{id}" do
            command "yum clean all --disablerepo=* --enablerepo=#{id}"
            only_if "yum repolist all | grep -P '^#{id}([ \\t]|$)'"
          end

          file repository_file do
            action :delete
            notifies :flush_cache, "package[package-cache-reload-#{id}]", :immediately
          end

          reload_packages
        end

        def make_cache
          given = new_resource
          id = given.repositoryid
          execute "yum-makecache-#{id}" do
            command "yum -q -y makecache --disablerepo=* --enablerepo=#{id}"
            action :run
            only_if { given.enabled }
            notifies :flush_cache, "package[package-cache-reload-#{id}]", :immediately
          end

          reload_packages
        end

        def write_repository
          given = new_resource
          own = given.source && run_context.has_template_in_cookbook?(given.cookbook_name, given.source)
          told = told_when_changed
          template repository_file do
            source own ? given.source : Builtin.template("yum_repository")
            local true unless own
            sensitive given.sensitive
            variables(config: given)
            mode given.mode
            told.each { |target, what| notifies what, target, :immediately }
          end
        end

        # What follows a change: resource and action.
        def told_when_changed
          return {} unless new_resource.make_cache

          id = new_resource.repositoryid
          fast = !which("dnf") && new_resource.makecache_fast
          told = {}
          told["execute[yum clean metadata #{id}]"] = :run if new_resource.clean_metadata || new_resource.clean_headers
          told["execute[yum-makecache-#{"fast-" if fast}#{id}]"] = :run
          told["package[package-cache-reload-#{id}]"] = :flush_cache
          told
        end

        def declare_cache_commands
          given = new_resource
          id = given.repositoryid
          only_this = "--disablerepo=* --enablerepo=#{id}"
          execute "yum clean metadata #{id}" do
            command "yum clean metadata #{only_this}"
            action :nothing
          end

          { "yum-makecache-#{id}" => "makecache", "yum-makecache-fast-#{id}" => "makecache fast" }.each do |name, words|
            execute name do
              command "yum -q -y #{words} #{only_this}"
              action :nothing
              only_if { given.enabled }
            end
          end

          reload_packages
        end

        def reload_packages
          package "package-cache-reload-#{new_resource.repositoryid}" do
            action :nothing
          end
        end
      end
    end
  end
end
