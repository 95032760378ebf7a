# frozen_string_literal: true

# Implements the parts of OpenSSL that cookbooks use and Ruby code can provide: digests, HMAC, key derivation, AES and reading
# of certificates. To create and use keys, cookbooks need the openssl_* resources or the command `openssl`.

module OpenSSL
  class OpenSSLError < StandardError; end

  VERSION = "3.3.0"
  OPENSSL_VERSION = "OpenSSL (the sandbox's own part of it)"
  OPENSSL_LIBRARY_VERSION = OPENSSL_VERSION
  OPENSSL_VERSION_NUMBER = 0x30000000

  def self.fips_mode = false

  # Compares two secrets in constant time, so that the duration does not reveal where they differ.
  def self.fixed_length_secure_compare(one, other)
    raise ArgumentError, "inputs must be of equal length" unless one.bytesize == other.bytesize

    one.bytes.zip(other.bytes).reduce(0) { |difference, (a, b)| difference | (a ^ b) }.zero?
  end

  def self.secure_compare(one, other)
    fixed_length_secure_compare(Digest::SHA256.digest(one), Digest::SHA256.digest(other)) && one == other
  end
end

require_relative "openssl/digest"
require_relative "openssl/random"
require_relative "openssl/cipher"
require_relative "openssl/asn1"
require_relative "openssl/x509"
require_relative "openssl/crl"
require_relative "openssl/pkey"
require_relative "openssl/ssl"
