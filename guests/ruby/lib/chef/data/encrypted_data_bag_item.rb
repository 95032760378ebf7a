# frozen_string_literal: true

# Reads and writes data bag items with values that are encrypted with a shared secret. Chef's formats are: 1, AES in CBC mode.
# 2, the same with an HMAC. 3, AES in Galois/counter mode. 0, the oldest, AES in CBC mode with a vector derived from the
# secret.

require "digest"
require_relative "advanced_encryption_standard"

class Chef
  class EncryptedDataBagItem
    class DecryptionFailure < StandardError; end
    class UnsupportedEncryptedDataBagItemFormat < StandardError; end
    class UnacceptableEncryptedDataBagItemFormat < StandardError; end
    class UnsupportedCipher < StandardError; end
    class EncryptedDataBagRequirementsFailure < StandardError; end

    CIPHERS = { 1 => "aes-256-cbc", 2 => "aes-256-cbc", 3 => "aes-256-gcm" }.freeze
    KEYS = {
      1 => %w[cipher encrypted_data iv version], 2 => %w[cipher encrypted_data hmac iv version],
      3 => %w[auth_tag cipher encrypted_data iv version]
    }.freeze

    NO_SECRET = "No secret specified and no secret found at /etc/chef/encrypted_data_bag_secret"
    GIVE_A_SECRET = "set `encrypted_data_bag_secret` in the settings (wrun.toml), or --encrypted-data-bag-secret, to the file that " \
                    "has the secret, or to a directory with a file for each policy, named like the policy"

    # Tells whether an item looks encrypted: all its values except the id must look encrypted.
    module CheckEncrypted
      def encrypted?(data)
        values = data.reject { |key, _| key == "id" }.values
        !values.empty? && values.all? { |value| value.is_a?(Hash) && KEYS[value["version"]] == value.keys.sort }
      end
    end

    def self.load(bag, name, secret = nil) = new(DataBagItem.load(bag, name).raw_data, secret || load_secret)

    # Returns the secret from the given or configured file, or else the secret that the operator gave the policy.
    def self.load_secret(path = nil)
      path ||= Config[:encrypted_data_bag_secret]
      secret = path ? read_secret(path) : Data.found { Wrun::Bridge.call("data.bag-secret") }
      raise Wrun::Hints.attach(ArgumentError.new(NO_SECRET), GIVE_A_SECRET) unless secret

      secret = secret.dup.force_encoding(Encoding::UTF_8).strip
      raise ArgumentError, "invalid zero length secret in '#{path}'" if secret.empty?

      secret
    end

    def self.read_secret(path)
      return Kernel.open(path).read if path.match?(%r{\A\w+://})
      raise Errno::ENOENT, "file not found '#{path}'" unless File.exist?(path)

      IO.read(path)
    end
    private_class_method :read_secret

    def self.encrypt_data_bag_item(plain, secret)
      plain.to_h { |key, value| [key, key == "id" ? value : Encryption.new(secret).encrypt(value)] }
    end

    def initialize(encrypted, secret)
      @encrypted = encrypted
      @secret = secret
    end

    def [](key)
      value = @encrypted[key]
      key.to_s == "id" || value.nil? ? value : Encryption.new(@secret).decrypt(value)
    end

    def []=(*)
      raise ArgumentError, "assignment not supported for #{self.class}"
    end

    def to_h = @encrypted.keys.to_h { |key| [key, self[key]] }
    alias to_hash to_h
    def inspect = "#<Chef::EncryptedDataBagItem #{@encrypted["id"]}>"
    def to_s = inspect

    # Encrypts and decrypts values with one secret.
    class Encryption
      INCORRECT = "Most likely the provided key is incorrect"

      def initialize(secret)
        @secret = secret
        @cipher = Wrun::AdvancedEncryptionStandard.new(Digest::SHA256.digest(secret))
      end

      def decrypt(value)
        version = value.respond_to?(:key?) ? value["version"] : 0
        check(version, value)
        return first_format(value) if version == 0

        check_digest(value) if version == 2
        plain = version == 3 ? counted(value) : @cipher.decrypt_chained(bytes(value, "encrypted_data"), bytes(value, "iv"))
        unwrapped(plain)
      rescue Wrun::AdvancedEncryptionStandard::Failure => error
        raise DecryptionFailure, "Error decrypting data bag value: '#{error.message}'. #{INCORRECT}. #{advice}"
      end

      # Encrypts a value in the configured format. Chef's default is 3.
      def encrypt(value)
        version = Config[:data_bag_encrypt_version]
        unless CIPHERS.key?(version)
          raise UnsupportedEncryptedDataBagItemFormat,
                "Invalid encrypted data bag format version `#{version}'. Supported versions are '1', '2', '3'"
        end

        text = JSON.generate({ "json_wrapper" => value }).b
        encrypted = version == 3 ? encrypt_counted(text) : encrypt_chained(text, version)
        encrypted.merge("version" => version, "cipher" => CIPHERS[version])
      end

      private

      def encrypt_counted(text)
        vector = SecureRandom.random_bytes(12)
        encrypted = @cipher.count_over(text, vector)
        { "encrypted_data" => packed(encrypted), "iv" => packed(vector), "auth_tag" => packed(@cipher.tag(encrypted, vector)) }
      end

      def encrypt_chained(text, version)
        vector = SecureRandom.random_bytes(16)
        encrypted = packed(@cipher.encrypt_chained(text, vector))
        digest = version == 2 ? { "hmac" => packed(keyed_digest(encrypted)) } : {}
        { "encrypted_data" => encrypted, **digest, "iv" => packed(vector) }
      end

      # Decrypts format 0, of Chef 0.10. The value is the encrypted text itself, and its content is YAML. Key and vector come
      # from the secret alone. An unencrypted value looks the same.
      def first_format(value)
        hash = "".b
        made = 3.times.inject("".b) { |all, _| all + (hash = repeated_digest(hash + @secret.b)) }
        cipher = Wrun::AdvancedEncryptionStandard.new(made.byteslice(0, 32))
        plain = cipher.decrypt_chained(value.unpack1("m"), made.byteslice(32, 16))
        YAML.load(plain.force_encoding(Encoding::UTF_8))
      end

      # OpenSSL's EVP_BytesToKey, as Ruby calls it.
      def repeated_digest(bytes) = 2048.times.inject(bytes) { |so_far, _| Digest::MD5.digest(so_far) }

      # Returns advice for a secret that looks like a path.
      def advice
        "You may need to use --secret-file rather than --secret." if @secret.length < 255 && @secret.include?("/")
      end

      def check(version, value)
        least = Config[:data_bag_decrypt_minimum_version]
        unless version.is_a?(Integer) && version >= least
          raise UnacceptableEncryptedDataBagItemFormat,
                "The encrypted data bag item has format version `#{version}', " \
                "but the config setting 'data_bag_decrypt_minimum_version' requires version `#{least}'"
        end
        return if version == 0

        unless CIPHERS.key?(version)
          raise UnsupportedEncryptedDataBagItemFormat,
                "This version of chef does not support encrypted data bag item format version '#{version}'"
        end
        return if value["cipher"] == CIPHERS[version]

        raise UnsupportedCipher,
              "Cipher '#{value["cipher"]}' is not supported by this version of Chef. Available ciphers: ['#{CIPHERS[1]}', '#{CIPHERS[3]}']"
      end

      def check_digest(value)
        expected = keyed_digest(value["encrypted_data"])
        given = bytes(value, "hmac")
        same = given.bytesize == expected.bytesize && given.bytes.zip(expected.bytes).sum { |a, b| a ^ b }.zero?
        raise DecryptionFailure, "Error decrypting data bag value: invalid hmac. #{INCORRECT}" unless same
      end

      def counted(value)
        unless value["auth_tag"]
          raise DecryptionFailure,
                "Error decrypting data bag value: invalid authentication tag. Most likely the data is corrupted"
        end

        encrypted = bytes(value, "encrypted_data")
        vector = bytes(value, "iv")
        unless @cipher.tag(encrypted, vector) == bytes(value, "auth_tag")
          raise DecryptionFailure, "Error decrypting data bag value: ''. #{INCORRECT}. #{advice}"
        end

        @cipher.count_over(encrypted, vector)
      end

      # HMAC-SHA256 of RFC 2104.
      def keyed_digest(text)
        key = @secret.b
        key = Digest::SHA256.digest(key) if key.bytesize > 64
        key = key.ljust(64, "\0".b)
        inner, outer = [0x36, 0x5c].map { |mask| key.bytes.map { |byte| byte ^ mask }.pack("C*") }
        Digest::SHA256.digest(outer + Digest::SHA256.digest(inner + text.b))
      end

      def unwrapped(plain)
        JSON.parse(plain.force_encoding(Encoding::UTF_8)).fetch("json_wrapper")
      rescue JSON::ParserError, KeyError
        raise DecryptionFailure, "Error decrypting data bag value. #{INCORRECT}"
      end

      def bytes(value, key) = value[key].to_s.unpack1("m")
      def packed(bytes) = [bytes].pack("m")
    end
  end
end
