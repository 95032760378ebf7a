# frozen_string_literal: true

# `apt_repository`: a source of packages for apt, with its trusted keys.

class Chef
  class Resource
    class AptRepository
      property :distribution, [String, nil, false], default: lazy { node["lsb"]["codename"] }

      # Adds a personal archive (PPA) of Launchpad. It requests the archive's key from Launchpad.
      OfLaunchpad = Class.new(HostActions.for(self)) do
        action :add do
          owner, name = new_resource.uri.delete_prefix("ppa:").split("/")
          name ||= "ppa"
          repository = new_resource.wrun_for_host(run_context)
          repository.uri("http://ppa.launchpad.net/#{owner}/#{name}/ubuntu")
          repository.key(Array(new_resource.key) + [key_number(owner, name)])
          repository.components(["main"]) if new_resource.components.empty?
          repository.action(:add)
          wrun_insert(repository, run_context)
        end

        private

        def key_number(owner, name)
          url = "https://launchpad.net/api/1.0/~#{owner}/+archive/#{name}"
          Chef::HTTP::Simple.new(url, {}).get("signing_key_fingerprint").delete('"')
        rescue Net::HTTPClientException => error
          raise "Could not access Launchpad ppa API: #{error.message}"
        end
      end

      def after_created
        super
        provider(OfLaunchpad) if uri.to_s.start_with?("ppa:")
      end
    end
  end
end
