# frozen_string_literal: true

# `openssl_x509_certificate` and `openssl_x509_request`.

require_relative "openssl_commands"

class Chef
  class Resource
    class OpensslX509Request
      action :create do
        given = new_resource
        unless ::File.exist?(given.path)
          converge_by("Create CSR #{given}") do
            own_file(given.path, :create, new_request(subject_text, key, given.key_pass))
            own_file(key_file, :create_if_missing, key, secret: true)
          end
        end
      end

      action_class { include OpensslCommands }
    end

    class OpensslX509Certificate
      action :create do
        path = new_resource.path
        own_file(path, :create_if_missing, ::File.exist?(path) ? nil : certificate)
        own_file(path, :create, certificate, secret: true) if renewal_due?
        own_file(key_file, :create_if_missing, ::File.exist?(key_file) ? nil : key_to_write, secret: true) if new_resource.csr_file.nil?
      end

      action_class do
        include OpensslCommands

        # A dry run makes neither keys nor certificates.
        def certificate = whyrun_mode? ? nil : (@certificate ||= sign)
        def key_to_write = whyrun_mode? ? nil : key

        def renewal_due?
          days = new_resource.renew_before_expiry
          return false if days.nil?
          return true unless ::File.exist?(new_resource.path)

          OpenSSL::X509::Certificate.new(::File.read(new_resource.path)).not_after <= Time.now + (86_400 * days)
        rescue OpenSSL::X509::CertificateError
          true
        end

        def sign
          request = new_resource.csr_file ? ::File.read(new_resource.csr_file) : new_request(subject_text, key, new_resource.key_pass)
          words = ["x509", "-req", "-sha256", "-days", new_resource.expire.to_s, "-set_serial", "0x#{serial}", "-in", "<WRUN_REQUEST",
                   "-extfile", "<WRUN_EXTENSIONS"]
          files = { "WRUN_REQUEST" => request, "WRUN_EXTENSIONS" => extensions }
          password = authority(words, files)
          with_files(*words, files: files, environment: secret(password))
        end

        # Who signs: the authority's key or the own one, for an authority that has a certificate or for itself. Returns what
        # opens the signing key.
        def authority(words, files)
          own = new_resource.ca_key_file.nil?
          files["WRUN_SIGNER"] = own ? key : ::File.read(new_resource.ca_key_file)
          if new_resource.ca_cert_file
            files["WRUN_ISSUER"] = ::File.read(new_resource.ca_cert_file)
            words.push("-CA", "<WRUN_ISSUER", "-CAkey", "<WRUN_SIGNER")
          else
            # Left alone, it would put the signing key's public half into the certificate of somebody else's request.
            files["WRUN_REQUESTED"] = openssl("req", "-noout", "-pubkey", input: files.fetch("WRUN_REQUEST"))
            words.push("-signkey", "<WRUN_SIGNER", "-force_pubkey", "<WRUN_REQUESTED")
          end
          words.push("-passin", "env:WRUN_PASSWORD")
          own ? new_resource.key_pass : new_resource.ca_key_pass
        end

        # Never the same for two certificates of an authority.
        def serial = openssl("rand", "-hex", "19").strip.prepend("1")

        def extensions
          lines = new_resource.extensions.map { |name, given| extension(name, given) }
          lines << "subjectAltName=#{new_resource.subject_alt_name.join(",")}" unless new_resource.subject_alt_name.empty?
          lines << "basicConstraints=critical,CA:TRUE" if new_resource.ca_cert_file.nil?
          lines << "subjectKeyIdentifier=hash" << "authorityKeyIdentifier=keyid:always,issuer:always"
          lines.map { |line| "#{line}\n" }.join
        end

        def extension(name, given)
          raise TypeError, "#{name} must contain a Ruby Hash" unless given.is_a?(Hash)
          raise ArgumentError, "keys in #{name} must be 'values' and 'critical'" unless given.key?("values") && given.key?("critical")

          "#{name}=#{"critical," if given["critical"]}#{given["values"].join(",")}"
        end
      end
    end
  end
end

require "openssl"
