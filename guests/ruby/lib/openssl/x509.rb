# frozen_string_literal: true

# Reads certificates (RFC 5280, section 4).

module OpenSSL
  module X509
    class CertificateError < OpenSSLError; end
    class NameError < OpenSSLError; end
    class StoreError < OpenSSLError; end
    class RequestError < OpenSSLError; end
    class ExtensionError < OpenSSLError; end

    # What only makes certificates. Cookbooks may name it, as a type or before they know that they need it.
    { Request: "openssl_x509_request", ExtensionFactory: "openssl_x509_certificate" }.each do |name, type|
      made = Class.new do
        define_singleton_method(:new) { |*| raise NotImplementedError, "the sandbox makes no certificates in Ruby: use #{type}" }
      end
      const_set(name, made)
    end

    # A distinguished name.
    class Name
      SHORT = {
        "2.5.4.3" => "CN", "2.5.4.4" => "SN", "2.5.4.5" => "serialNumber", "2.5.4.6" => "C", "2.5.4.7" => "L", "2.5.4.8" => "ST",
        "2.5.4.9" => "street", "2.5.4.10" => "O", "2.5.4.11" => "OU", "1.2.840.113549.1.9.1" => "emailAddress",
        "0.9.2342.19200300.100.1.25" => "DC", "0.9.2342.19200300.100.1.1" => "UID"
      }.freeze
      OLDER = 0
      COMPAT = 0
      RFC2253 = 17892119
      ONELINE = 8520479

      def self.parse(text) = new(text.delete_prefix("/").split("/").map { |part| part.split("=", 2) })

      def initialize(parts = [], encoded = nil)
        @parts = parts.map { |name, value, type| [name, value, type || 12] }
        @encoded = encoded
      end

      def self.wrun(value)
        parts = value.values.flat_map(&:values)
        new(parts.map { |pair| [SHORT.fetch(pair[0].identifier, pair[0].identifier), pair[1].text, pair[1].tag] }, value.whole)
      end

      def add_entry(name, value, type = 12)
        @parts.push([name, value, type])
        @encoded = nil
        self
      end

      def to_der = @encoded || raise(NotImplementedError, "the sandbox encodes only names that it has read")
      def to_a = @parts.map(&:dup)
      def to_s(form = OLDER) = form == RFC2253 ? rfc2253 : @parts.map { |name, value, _| "/#{name}=#{value}" }.join
      def rfc2253 = @parts.reverse.map { |name, value, _| "#{name}=#{value}" }.join(",")
      def ==(other) = other.is_a?(Name) && to_a == other.to_a
      alias eql? ==
      def hash = to_s.hash
      def inspect = "#<OpenSSL::X509::Name #{rfc2253}>"
    end

    EXTENSIONS = { "2.5.29.17" => "subjectAltName", "2.5.29.19" => "basicConstraints", "2.5.29.15" => "keyUsage",
                   "2.5.29.37" => "extendedKeyUsage", "2.5.29.14" => "subjectKeyIdentifier",
                   "2.5.29.35" => "authorityKeyIdentifier", "2.5.29.20" => "crlNumber", "2.5.29.21" => "CRLReason" }.freeze
    private_constant :EXTENSIONS

    # An extension of a certificate or of a revocation list.
    Extension = Struct.new(:oid, :value_der, :critical) do
      # Reads all extensions of a sequence.
      def self.wrun_all(list)
        list.values.map do |extension|
          identifier = extension[0].identifier
          new(EXTENSIONS.fetch(identifier, identifier), extension.values.last.content, extension.values.size == 3)
        end
      end

      def critical? = critical

      # Returns the extension's value in the form of `openssl x509`. Less common extensions appear as hexadecimal bytes.
      def value
        return ASN1.decode(value_der).values.map { |name| alternative(name) }.join(", ") if oid == "subjectAltName"
        return ASN1.decode(value_der).values.any? { |part| part.tag == 1 } ? "CA:TRUE" : "CA:FALSE" if oid == "basicConstraints"
        return ASN1.decode(value_der).integer.to_s if oid == "crlNumber"

        value_der.unpack1("H*").upcase.scan(/../).join(":")
      end

      private

      def alternative(name)
        case name.tag
        when 1 then "email:#{name.text}"
        when 2 then "DNS:#{name.text}"
        when 6 then "URI:#{name.text}"
        when 7 then "IP Address:#{name.content.bytes.join(".")}"
        else "othername:<unsupported>"
        end
      end
    end

    class Certificate
      attr_reader :to_der

      def initialize(source = nil)
        raise NotImplementedError, "the sandbox makes no certificates in Ruby: use openssl_x509_certificate" if source.nil?

        source = source.read if source.respond_to?(:read)
        @to_der = PEM.bytes(source, "(?:X509 |TRUSTED )?CERTIFICATE")&.last || source.b
        parts = ASN1.decode(@to_der)[0].values
        # Certificates of the first version omit the version.
        @version = parts.first.tag.zero? && parts.first.constructed ? parts.shift[0].integer : 0
        @parts = parts
      rescue ASN1::ASN1Error, NoMethodError
        raise CertificateError, "PEM_read_bio_X509: no start line"
      end

      attr_reader :version

      def serial = @parts[0].integer
      def issuer = Name.wrun(@parts[2])
      def not_before = @parts[3][0].time
      def not_after = @parts[3][1].time
      def subject = Name.wrun(@parts[4])
      def public_key = PKey.wrun_public(@parts[5])
      def to_pem = PEM.text("CERTIFICATE", @to_der)
      alias to_s to_pem
      def ==(other) = other.is_a?(Certificate) && to_der == other.to_der
      def inspect = "#<OpenSSL::X509::Certificate subject=#{subject.inspect}, issuer=#{issuer.inspect}, serial=#{serial}, not_before=#{not_before}, not_after=#{not_after}>"

      # Returns true if the certificate belongs to the private key.
      def check_private_key(key) = public_key.params == key.params.slice(*public_key.params.keys)

      def extensions
        # The extensions follow the key, with tag 3.
        list = @parts.drop(6).find { |part| part.tag == 3 }
        list ? Extension.wrun_all(list[0]) : []
      end

      def find_extension(oid) = extensions.find { |extension| extension.oid == oid }
    end

    # A placeholder, because Ruby does not check certificate chains.
    class Store
      def initialize(*); end
      def add_file(_path) = self
      def add_path(_path) = self
      def add_cert(_certificate) = self
      def set_default_paths = nil
      def verify(*) = raise(NotImplementedError, "the sandbox checks no certificate chains in Ruby: run `openssl verify`")
    end
  end
end
