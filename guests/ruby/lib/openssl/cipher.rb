# frozen_string_literal: true

# Implements OpenSSL::Cipher for AES in CBC and Galois/counter mode. It collects all content in memory, because cookbooks
# encrypt only small texts such as passwords.

require_relative "../chef/data/advanced_encryption_standard"
require_relative "cipher_names"

module OpenSSL
  class Cipher
    class CipherError < OpenSSLError; end

    AES = Wrun::AdvancedEncryptionStandard
    private_constant :AES

    attr_reader :name
    attr_accessor :auth_data
    attr_writer :auth_tag

    def initialize(name)
      @name = name.downcase
      found = @name.match(/\A(?:aes-?(128|192|256)-(cbc|gcm)|id-aes(128|192|256)-(gcm))\z/)
      raise CipherError, "unsupported cipher algorithm (#{name}): the sandbox has AES in CBC and GCM" unless found

      @bits, @mode = found.captures.compact.then { |bits, mode| [bits.to_i, mode] }
      @text = "".b
      @vector = "\0".b * iv_len
    end

    def encrypt = (@encrypts = true).then { self }
    def decrypt = (@encrypts = false).then { self }
    def key_len = @bits / 8
    def iv_len = @mode == "gcm" ? 12 : 16
    def block_size = @mode == "gcm" ? 1 : 16
    def authenticated? = @mode == "gcm"

    def key=(key)
      raise ArgumentError, "key must be #{key_len} bytes" unless key.bytesize == key_len

      @key = key.b
    end

    def iv=(vector)
      raise ArgumentError, "iv must be #{iv_len} bytes" unless vector.bytesize == iv_len

      @vector = vector.b
    end

    def random_key = Random.random_bytes(key_len).tap { |key| self.key = key }
    def random_iv = Random.random_bytes(iv_len).tap { |vector| self.iv = vector }
    def reset = (@text = "".b).then { self }
    def padding=(value)
      raise CipherError, "the sandbox encrypts with padding only" if value.to_i.zero?
    end

    # Collects the text. `final` returns the whole result.
    def update(text)
      @text << text.b
      "".b
    end

    def final
      raise CipherError, "no key set" unless @key

      cipher = AES.new(@key)
      @mode == "gcm" ? count(cipher) : chain(cipher)
    rescue AES::Failure => error
      raise CipherError, error.message
    end

    def auth_tag(length = 16) = @auth_tag.byteslice(0, length)

    private

    def chain(cipher) = @encrypts ? cipher.encrypt_chained(@text, @vector) : cipher.decrypt_chained(@text, @vector)

    def count(cipher)
      raise CipherError, "the sandbox authenticates no further data" unless @auth_data.to_s.empty?

      result = cipher.count_over(@text, @vector)
      tag = cipher.tag(@encrypts ? result : @text, @vector)
      raise CipherError, "" unless @encrypts || OpenSSL.secure_compare(tag, @auth_tag.to_s)

      @auth_tag = tag if @encrypts
      result
    end
  end
end
