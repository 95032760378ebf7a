# frozen_string_literal: true

# `openssl_rsa_private_key`, `openssl_ec_private_key`, their public keys, and `openssl_dhparam`.

require_relative "openssl_commands"

class Chef
  class Resource
    class OpensslRsaPrivateKey
      action :create do
        given = new_resource
        # As Chef has it, `force` leaves the key alone.
        unless given.force || private_key?(given.path, given.key_pass)
          converge_by("create #{given.key_length} bit RSA key #{given.path}") do
            own_file(given.path, :create, new_rsa_key(given.key_length, given.key_pass, given.key_cipher), secret: true)
          end
        end
      end

      action_class { include OpensslCommands }
    end

    class OpensslEcPrivateKey
      action :create do
        given = new_resource
        unless given.force || private_key?(given.path, given.key_pass)
          converge_by("Create an EC private key #{given.path}") do
            log "Generating an #{given.key_curve} EC key file at #{given.path}, this may take some time"
            own_file(given.path, :create, new_ec_key(given.key_curve, given.key_pass, given.key_cipher), secret: true)
          end
        end
      end

      action_class { include OpensslCommands }
    end

    { OpensslRsaPublicKey => "RSA", OpensslEcPublicKey => "EC" }.each do |type, kind|
      type.class_exec do
        action :create do
          own_file(new_resource.path, :create, public_key(private_key(kind), new_resource.private_key_pass))
        end

        action_class do
          include OpensslCommands

          # The key that is given by its path or by its text.
          def private_key(kind)
            path, text = new_resource.private_key_path, new_resource.private_key_content
            if path && text
              raise ArgumentError, "You cannot specify both 'private_key_path' and 'private_key_content' properties at the same time."
            end
            unless path || text
              raise ArgumentError, "You must specify the private key with either 'private_key_path' or 'private_key_content' properties."
            end
            return path || text if private_key?(path || text, new_resource.private_key_pass)

            raise "#{path} not a valid private #{kind} key or password is invalid"
          end
        end
      end
    end

    class OpensslDhparam
      action :create do
        given = new_resource
        text = valid? ? nil : parameters
        own_file(given.path, :create, text, secret: true)
      end

      action_class do
        include OpensslCommands

        def valid?
          return false unless ::File.exist?(new_resource.path)

          !shell_out(["openssl", "dhparam", "-check", "-noout"], input: ::File.read(new_resource.path)).error?
        end

        # Making them takes long, and a dry run makes nothing.
        def parameters
          openssl("dhparam", "-#{new_resource.generator}", new_resource.key_length.to_s) unless whyrun_mode?
        end
      end
    end
  end
end
