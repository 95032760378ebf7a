# frozen_string_literal: true

# The keys of apt's repositories: from a file, an address or a key server, into a keyring of the repository's own or, where
# that is not wanted, into apt's.

class Chef
  class Resource
    class AptRepository
      module AptKeys
        TRUSTED = %w[apt-key adv --list-public-keys --with-fingerprint --with-colons].freeze

        def install_keys
          return logger.debug("No 'key' property specified skipping key import") if new_resource.key.nil?

          Array(new_resource.key).each do |key|
            key_number?(key) && !own_file?(key) ? install_from_server(key) : install_from_file(key)
          end
        end

        def install_archive_key(owner, name)
          url = "https://launchpad.net/api/1.0/~#{owner}/+archive/#{name}"
          number = Chef::HTTP::Simple.new(url, {}).get("signing_key_fingerprint").delete('"')
          install_from_server(number, "keyserver.ubuntu.com")
        rescue Net::HTTPClientException => error
          raise "Could not access Launchpad ppa API: #{error.message}"
        end

        # What guards of children ask is public: they reach the provider from outside.
        def key_number?(key)
          digits = key.delete_prefix("0x")
          digits.match?(/\A\h+\z/) && [8, 16, 40].include?(digits.length)
        end

        def own_file?(name) = run_context.has_cookbook_file_in_cookbook?(cookbook_name, name)

        def key_source(key)
          return :remote_file if key.start_with?("http")
          return :cookbook_file if own_file?(key)

          raise Exceptions::FileNotFound, "Cannot locate key file: #{key}"
        end

        def install_from_file(key)
          staged = ::File.join(Chef::Config[:file_cache_path], key.gsub(/[^0-9A-Za-z-]/, "_"))
          new_resource.signed_by ? import_into_keyring(key, staged) : add_to_trusted(key)
        end

        def import_into_keyring(key, staged)
          ring = keyring_path
          directory KEYRINGS do
            mode "0755"
          end

          fetch_key(key, staged, "execute[import #{ring}]")
          declare_import(ring, staged)
          file ring do
            mode "0644"
            notifies :run, "execute[import #{ring}]", :before unless ::File.exist?(ring)
          end
        end

        def declare_import(ring, staged)
          given = new_resource
          prefix = apt_version > 2 ? "gnupg-ring:" : ""
          execute "import #{ring}" do
            command ["gpg", "--import", "--batch", "--yes", "--no-default-keyring", "--keyring", "#{prefix}#{ring}", staged]
            default_env true
            sensitive given.sensitive
            action :nothing
          end
        end

        def apt_version = @apt_version ||= (printed("apt -v")[/\d+/] || 2).to_i

        def fetch_key(key, path, told = nil)
          given = new_resource
          declare_resource(key_source(key), path) do
            source key
            mode "0644"
            sensitive given.sensitive
            action :create
            verify "gpg %{path}"
            notifies :run, told, :immediately if told
          end
        end

        def add_to_trusted(key)
          given = new_resource
          path = keyring_path
          fetch_key(key, path)
          execute "apt-key add #{path}" do
            command ["apt-key", "add", path]
            default_env true
            sensitive given.sensitive
            action :run
            not_if { trusts_all?(path) }
            notifies :run, "execute[apt-cache gencaches]", :immediately
          end
        end

        def trusts_all?(path) = (public_keys("gpg", "--with-fingerprint", "--with-colons", path) - public_keys(*TRUSTED)).empty?
        def public_keys(*command)
          printed(*command).lines.grep(/^pub:/).map { |line| line.split(":").first(6).join(":") }
        end

        def install_from_server(key, server = new_resource.keyserver)
          server = "hkp://#{server}:80" unless server.start_with?("hkp://")
          proxy = " --keyserver-options http-proxy=#{new_resource.key_proxy}" if new_resource.key_proxy
          if new_resource.signed_by
            receive(key, "gpg --no-default-keyring --keyring #{keyring_path}#{proxy} --keyserver #{server} --recv #{key}")
          else
            receive(key, "apt-key adv --no-tty --recv#{proxy} --keyserver #{server} #{key}")
          end
          # As Chef has it, a dry run that cannot have received the key fails too.
          raise "The key #{key} is invalid and cannot be used to verify an apt repository." unless valid?(key.upcase)
        end

        def receive(key, line)
          given = new_resource
          execute "install-key #{key}" do
            command line
            default_env true
            sensitive given.sensitive
            not_if { present?(key.upcase) && valid?(key.upcase) }
            notifies :run, "execute[apt-cache gencaches]", :immediately
          end
        end

        # Nothing: no such key is in the repository's keyring.
        def in_keyring(*words)
          listed = shell_out("gpg", "--no-default-keyring", "--keyring", keyring_path, "--list-public-keys", *words)
          listed.stdout if listed.exitstatus.zero?
        rescue Errno::EROFS
          nil
        end

        def present?(key)
          return !in_keyring("--with-fingerprint", "--with-colons", key).nil? if new_resource.signed_by

          printed(*TRUSTED).lines.any? { |line| line.start_with?("fpr:") && line.delete(" ").match?(/#{key}:/) }
        end

        def valid?(key)
          if new_resource.signed_by
            listed = in_keyring(key)
            !listed.nil? && !listed.match?(/\[(?:expired|revoked):/)
          else
            !printed("apt-key", "list").match?(%r{^/#{key}.*\[expired: .*\]$})
          end
        end
      end
    end
  end
end
