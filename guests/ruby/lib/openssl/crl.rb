# frozen_string_literal: true

# Reads certificate revocation lists (RFC 5280, section 5).

module OpenSSL
  module X509
    class CRLError < OpenSSLError; end

    # A certificate that an authority has revoked.
    Revoked = Struct.new(:serial, :time, :extensions, :to_der)

    class CRL
      attr_reader :to_der, :version, :issuer, :last_update, :next_update, :revoked, :extensions

      def initialize(source = nil)
        raise NotImplementedError, "the sandbox makes no lists of revoked certificates in Ruby: use openssl_x509_crl" if source.nil?

        source = source.read if source.respond_to?(:read)
        @to_der = PEM.bytes(source, "X509 CRL")&.last || source.b
        take(ASN1.decode(@to_der)[0].values)
      rescue ASN1::ASN1Error, NoMethodError
        raise CRLError, "PEM_read_bio_X509_CRL: no start line"
      end

      def to_pem = PEM.text("X509 CRL", @to_der)
      alias to_s to_pem
      alias to_text to_pem
      def inspect = "#<OpenSSL::X509::CRL issuer=#{issuer.inspect}, last_update=#{last_update}, next_update=#{next_update}>"
      def ==(other) = other.is_a?(CRL) && to_der == other.to_der

      private

      def take(parts)
        @version = parts.first.tag == 2 ? parts.shift.integer : 0
        _algorithm, issuer, updated = parts.shift(3)
        @issuer = Name.wrun(issuer)
        @last_update = updated.time
        @next_update = parts.shift.time if [23, 24].include?(parts.first&.tag)
        @revoked = parts.first&.tag == 16 ? parts.shift.values.map { |entry| one(entry) } : []
        @extensions = parts.empty? ? [] : Extension.wrun_all(parts.first[0])
      end

      def one(entry)
        serial, time, extensions = entry.values
        Revoked.new(serial.integer, time.time, extensions ? Extension.wrun_all(extensions) : [], entry.whole)
      end
    end
  end
end
