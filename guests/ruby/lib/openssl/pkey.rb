# frozen_string_literal: true

# Reads and writes keys of RSA and parameters of DH; the command `openssl` makes new ones. To use keys, cookbooks need that
# command: only `RSA#private_decrypt` works here.

module OpenSSL
  module PKey
    class PKeyError < OpenSSLError; end
    class RSAError < PKeyError; end
    class ECError < PKeyError; end
    class DHError < PKeyError; end
    class DSAError < PKeyError; end

    RSA_IDENTIFIER = "1.2.840.113549.1.1.1"
    private_constant :RSA_IDENTIFIER

    class << self
      # Reads a key from its text. An encrypted key raises an error.
      def read(source, _password = nil)
        label, bytes = PEM.bytes(source, "[A-Z ]*(?:PRIVATE|PUBLIC) KEY")
        raise PKeyError, "Could not parse PKey" if label.nil?
        raise NotImplementedError, "the sandbox opens no locked keys in Ruby: run `openssl pkey`" if label.start_with?("ENCRYPTED") || source.to_s.include?("ENCRYPTED")

        label.start_with?("EC") ? EC.wrun(bytes, true) : of_bytes(label, ASN1.decode(bytes))
      end

      # Reads the public key of a certificate.
      def wrun_public(value)
        return EC.wrun(value.whole, false) unless value[0][0].identifier == RSA_IDENTIFIER

        RSA.wrun(ASN1.decode(value[1].bits).values.map(&:integer), false)
      end

      private

      def of_bytes(label, value)
        case label
        when "RSA PRIVATE KEY" then RSA.wrun(value.values.map(&:integer).drop(1), true)
        when "RSA PUBLIC KEY" then RSA.wrun(value.values.map(&:integer), false)
        when "PUBLIC KEY" then wrun_public(value)
        else private_key(value)
        end
      end

      def private_key(value)
        return EC.wrun(value.whole, true) unless value[1][0].identifier == RSA_IDENTIFIER

        RSA.wrun(ASN1.decode(value[2].content).values.map(&:integer).drop(1), true)
      end
    end

    class PKey
      def private? = @private
      def public? = true

      %i[sign verify sign_raw verify_raw public_encrypt private_decrypt private_encrypt public_decrypt derive to_pem export].each do |name|
        define_method(name) { |*| raise NotImplementedError, "the sandbox does not use keys in Ruby (#{name}): run `openssl`" }
      end
    end

    class RSA < PKey
      NAMES = %w[n e d p q dmp1 dmq1 iqmp].freeze
      PKCS1_PADDING = 1
      PADDED = /\A\x00\x02[^\x00]{8,}\x00(.*)\z/mn
      private_constant :NAMES, :PADDED

      def self.new(source = nil, password = nil)
        return generate(*source) if source.nil? || source.is_a?(Integer)

        key = OpenSSL::PKey.read(source, password)
        key.is_a?(RSA) ? key : raise(RSAError, "incorrect pkey type")
      rescue PKeyError => error
        raise error.is_a?(RSAError) ? error : RSAError.new(error.message)
      end

      # The command `openssl` makes new keys, which the policy needs a grant for. A dry run throws its key away.
      def self.generate(size = 2048, exponent = 65_537)
        made = Wrun::Machine.run(["openssl", "genrsa", *("-3" if exponent == 3), size.to_s])
        raise RSAError, made.errors.strip unless made.code&.zero?

        new(made.output)
      end

      def self.wrun(numbers, is_private) = allocate.wrun_take(numbers, is_private)

      def wrun_take(numbers, is_private)
        @params = NAMES.zip(numbers).to_h.compact
        @private = is_private
        self
      end

      attr_reader :params

      # Decrypts text that was encrypted for this key, such as the secrets of vaults.
      def private_decrypt(text, padding = PKCS1_PADDING)
        raise RSAError, "private key needed." unless private?
        raise NotImplementedError, "the sandbox opens texts in PKCS #1's padding only: run `openssl`" unless padding == PKCS1_PADDING

        number = text.unpack1("H*").to_i(16)
        size = (n.bit_length + 7) / 8
        raise RSAError, "data length differs from the key's" unless text.bytesize == size && number < n

        plain = [number.pow(d, n).to_s(16).rjust(size * 2, "0")].pack("H*")
        plain[PADDED, 1] || raise(RSAError, "padding check failed")
      end

      NAMES.each { |name| define_method(name) { @params[name] } }

      def public_key = RSA.wrun([n, e], false)

      # Writes the key as Ruby does: a private one in the form of PKCS #1, a public one as any public key.
      def to_der = private? ? ASN1.sequence(*[0, *NAMES.map { |name| @params[name] }].map { |one| ASN1.number(one) }) : public_der
      def public_to_der = public_key.to_der
      def to_pem = PEM.text(private? ? "RSA PRIVATE KEY" : "PUBLIC KEY", to_der)
      def public_to_pem = public_key.to_pem
      alias export to_pem
      alias to_s to_pem

      private

      def public_der
        algorithm = ASN1.sequence(["06092a864886f70d010101"].pack("H*"), ["0500"].pack("H*"))
        numbers = ASN1.sequence(ASN1.number(n), ASN1.number(e))
        ASN1.sequence(algorithm, ASN1.tagged(3, "\0".b + numbers))
      end
    end

    class EC < PKey
      def self.new(source, password = nil) = OpenSSL::PKey.read(source, password)

      def self.wrun(bytes, is_private) = allocate.wrun_take(bytes, is_private)

      def wrun_take(bytes, is_private)
        @bytes = bytes
        @private = is_private
        self
      end

      def params = { "der" => @bytes }
    end

    # Parameters of the Diffie-Hellman exchange. The command `openssl` makes new ones, which takes from seconds to minutes.
    class DH < PKey
      LABEL = "DH PARAMETERS"
      private_constant :LABEL

      def self.new(source, generator = 2)
        return generate(source, generator) if source.is_a?(Integer)

        label, bytes = PEM.bytes(source, LABEL)
        raise DHError, "could not parse pkey" if label.nil?

        allocate.wrun_take(bytes)
      end

      def self.generate(size, generator = 2)
        raise Errno::EROFS, "this is a dry run, which would run openssl dhparam" if Chef::Config[:why_run]

        made = Wrun::Machine.run(["openssl", "dhparam", "-#{generator}", size.to_s])
        raise DHError, made.errors.strip unless made.code&.zero?

        new(made.output)
      end

      def wrun_take(bytes)
        @bytes = bytes
        @numbers = ASN1.decode(bytes).values.map(&:integer)
        self
      end

      def p = @numbers[0]
      def g = @numbers[1]
      def q = nil
      def params = { "p" => p, "q" => q, "g" => g, "pub_key" => nil, "priv_key" => nil }
      def private? = false
      def public? = false
      def to_der = @bytes
      def to_pem = PEM.text(LABEL, @bytes)
      alias export to_pem
      alias to_s to_pem
    end
  end
end
