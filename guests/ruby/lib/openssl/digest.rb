# frozen_string_literal: true

# Implements OpenSSL's digests, HMAC and key derivation with Ruby's digests.

require "digest"

module OpenSSL
  class Digest
    class DigestError < OpenSSLError; end

    KINDS = { "MD5" => ::Digest::MD5, "SHA1" => ::Digest::SHA1, "SHA256" => ::Digest::SHA256, "SHA384" => ::Digest::SHA384,
              "SHA512" => ::Digest::SHA512 }.freeze
    BLOCKS = { "SHA384" => 128, "SHA512" => 128 }.freeze
    private_constant :KINDS, :BLOCKS

    class << self
      def digest(name, data) = new(name).digest(data)
      def hexdigest(name, data) = new(name).hexdigest(data)
      def base64digest(name, data) = new(name).base64digest(data)
    end

    attr_reader :name

    def initialize(name, data = nil)
      @name = (name.is_a?(Digest) ? name.name : name).to_s.upcase.delete("-")
      kind = KINDS[@name] or raise DigestError, "Unsupported digest algorithm (#{name})."
      @state = kind.new
      update(data) if data
    end

    def update(data)
      @state.update(data)
      self
    end

    alias << update

    def reset
      @state.reset
      self
    end

    def digest(data = nil) = data ? @state.class.digest(data) : @state.digest
    def hexdigest(data = nil) = digest(data).unpack1("H*")
    def base64digest(data = nil) = [digest(data)].pack("m0")
    def file(path) = update(File.binread(path))
    def digest_length = @state.digest_length
    alias length digest_length
    alias size digest_length
    def block_length = BLOCKS.fetch(@name, 64)
    def to_s = hexdigest
    alias inspect to_s
    def ==(other) = other.is_a?(String) ? hexdigest == other : other.is_a?(Digest) && digest == other.digest

    KINDS.each_key do |name|
      type = Class.new(self) do
        define_singleton_method(:digest) { |data| Digest.new(name).digest(data) }
        define_singleton_method(:hexdigest) { |data| Digest.new(name).hexdigest(data) }
        define_singleton_method(:base64digest) { |data| Digest.new(name).base64digest(data) }
        define_method(:initialize) { |data = nil| super(name, data) }
      end
      const_set(name, type)
    end
  end

  # Implements HMAC (RFC 2104).
  class HMAC
    class HMACError < OpenSSLError; end

    class << self
      def digest(kind, key, data) = new(key, kind).update(data).digest
      def hexdigest(kind, key, data) = digest(kind, key, data).unpack1("H*")
      def base64digest(kind, key, data) = [digest(kind, key, data)].pack("m0")
    end

    def initialize(key, kind)
      @kind = Digest.new(kind)
      key = @kind.digest(key) if key.bytesize > @kind.block_length
      @key = key.b.ljust(@kind.block_length, "\0".b)
      @data = "".b
    end

    def update(data)
      @data << data.b
      self
    end

    alias << update

    def digest
      inner = @kind.digest(pad(0x36) + @data)
      @kind.digest(pad(0x5c) + inner)
    end

    def hexdigest = digest.unpack1("H*")
    def base64digest = [digest].pack("m0")
    alias to_s hexdigest
    def reset = (@data = "".b).then { self }

    private

    def pad(byte) = @key.bytes.map { |one| one ^ byte }.pack("C*")
  end

  # Derives keys from passwords with PBKDF2.
  module KDF
    class KDFError < OpenSSLError; end

    def self.pbkdf2_hmac(password, salt:, iterations:, length:, hash:)
      key = "".b
      part = 0
      while key.bytesize < length
        part += 1
        block = HMAC.digest(hash, password, salt.b + [part].pack("N"))
        sum = block.unpack("N*")
        (iterations - 1).times do
          block = HMAC.digest(hash, password, block)
          sum = sum.zip(block.unpack("N*")).map { |one, other| one ^ other }
        end
        key << sum.pack("N*")
      end
      key.byteslice(0, length)
    end
  end

  module PKCS5
    def self.pbkdf2_hmac(password, salt, iterations, length, digest)
      KDF.pbkdf2_hmac(password, salt: salt, iterations: iterations, length: length, hash: digest)
    end

    def self.pbkdf2_hmac_sha1(password, salt, iterations, length) = pbkdf2_hmac(password, salt, iterations, length, "SHA1")
  end
end
