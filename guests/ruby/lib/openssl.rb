# frozen_string_literal: true

# What cookbooks ask of OpenSSL that needs no foreign library: digests, message authentication, key derivation, AES, and
# reading certificates. Keys are made and used by the `openssl` command, through the openssl_* resources or where it is
# granted.

module OpenSSL
  class OpenSSLError < StandardError; end

  VERSION = "3.3.0"
  OPENSSL_VERSION = "OpenSSL (the sandbox's own part of it)"
  OPENSSL_LIBRARY_VERSION = OPENSSL_VERSION
  OPENSSL_VERSION_NUMBER = 0x30000000

  def self.fips_mode = false

  # Whether two secrets are the same, in a time that tells nothing.
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
