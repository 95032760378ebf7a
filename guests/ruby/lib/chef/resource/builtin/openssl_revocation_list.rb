# frozen_string_literal: true

# `openssl_x509_crl`: an authority's list of revoked certificates. It is put together here, as `openssl ca` would want a
# folder with the authority's accounts, and signed by the `openssl` command.

require "openssl"
require_relative "openssl_commands"

class Chef
  class Resource
    class OpensslX509Crl
      DAY = 86_400
      # What signs, by the kind of key: RSA names parameters, which are none (RFC 4055, 5), ECDSA does not (RFC 5758, 3.2).
      ALGORITHMS = {
        OpenSSL::PKey::RSA => ["1.2.840.113549.1.1.11", OpenSSL::DER.null],
        OpenSSL::PKey::EC => ["1.2.840.10045.4.3.2"]
      }.freeze

      action :create do
        own_file(new_resource.path, :create, revocation_list)
      end

      action_class do
        include OpensslCommands

        # The list's text; nothing where a dry run has no authority yet, which an earlier resource would have made.
        def revocation_list
          given = new_resource
          return if whyrun_mode? && ![given.ca_cert_file, given.ca_key_file].all? { |path| made?(path) }

          list = current_list
          if list.nil?
            log "Creating a CRL #{given.path} for CA #{given.ca_cert_file}"
            list = new_list(1, [])
          end
          renewed(list).to_pem
        end

        # Whether a file has a certificate or a key. A dry run makes neither: there, files that it would write are empty.
        def made?(path) = ::File.exist?(path) && ::File.read(path).include?("-----BEGIN")

        def current_list
          OpenSSL::X509::CRL.new(::File.read(new_resource.path))
        rescue OpenSSL::X509::CRLError, Errno::ENOENT
          nil
        end

        def renewed(list)
          given = new_resource
          serial = given.serial_to_revoke
          serial = serial.to_i(16) if serial.is_a?(String)
          entries = list.revoked.map { |entry| [entry.serial, entry.to_der] }
          if serial && entries.none? { |number, _| number == serial }
            log "Revoking serial #{given.serial_to_revoke} in CRL #{given.path}"
            entries << [serial, revoked(serial)]
          elsif list.next_update.nil? || list.next_update <= Time.now + (DAY * given.renewal_threshold)
            log "Renewing CRL for CA #{given.ca_cert_file}"
          else
            return list
          end
          new_list(next_number(list), entries)
        end

        def next_number(list)
          number = list.extensions.find { |extension| extension.oid == "crlNumber" }
          number ? number.value.to_i + 1 : 2
        end

        # One entry of the list.
        def revoked(serial)
          reason = extension("2.5.29.21", der.enumerated(new_resource.revocation_reason))
          der.sequence(der.integer(serial), der.time(Time.now), der.sequence(reason))
        end

        # A signed list: entries are pairs of a serial number and what is written of it.
        def new_list(number, entries)
          algorithm = der.sequence(der.identifier(algorithm_of_key.first), *algorithm_of_key.drop(1))
          now = Time.now
          parts = [der.integer(1), algorithm, authority.subject.to_der, der.time(now), der.time(now + (DAY * new_resource.expire))]
          parts << der.sequence(*entries.sort.map(&:last)) unless entries.empty?
          parts << der.explicit(0, der.sequence(extension("2.5.29.20", der.integer(number)), extension("2.5.29.35", authority_key)))
          content = der.sequence(*parts)
          signed = signature(content, ::File.read(new_resource.ca_key_file), new_resource.ca_key_pass)
          OpenSSL::X509::CRL.new(der.sequence(content, algorithm, der.bits(signed)))
        end

        # Which key signs: its identifier, and the certificate that speaks for it (RFC 5280, 4.2.1.1).
        def authority_key
          identifier = authority.find_extension("subjectKeyIdentifier")
          raise OpenSSL::X509::ExtensionError, "#{new_resource.ca_cert_file}: unable to get issuer keyid" if identifier.nil?

          key = der.tagged(0x80, OpenSSL::ASN1.decode(identifier.value_der).content)
          name = der.tagged(0xa1, der.explicit(4, authority.issuer.to_der))
          number = der.tagged(0x82, OpenSSL::ASN1.decode(der.integer(authority.serial)).content)
          der.sequence(key, name, number)
        end

        def extension(identifier, value) = der.sequence(der.identifier(identifier), der.octets(value))

        # The certificate's key is the signing one's public half, and needs no password.
        def algorithm_of_key
          ALGORITHMS.fetch(authority.public_key.class) { |kind| raise TypeError, "no list is signed with a key of #{kind}" }
        end

        def authority = @authority ||= OpenSSL::X509::Certificate.new(::File.read(new_resource.ca_cert_file))
        def der = OpenSSL::DER
      end
    end
  end
end
