# frozen_string_literal: true

# Decodes ASN.1 (DER), as far as certificates and keys need it.

module OpenSSL
  module ASN1
    class ASN1Error < OpenSSLError; end

    # One value: the tag's number, whether it contains other values, the content, and the bytes of the whole value.
    Value = Struct.new(:tag, :constructed, :content, :whole) do
      def values = @values ||= ASN1.all(content)
      def [](index) = values[index]

      def integer
        number = content.unpack1("H*").to_i(16)
        content.getbyte(0).to_i > 127 ? number - (1 << (8 * content.bytesize)) : number
      end

      # A dotted object identifier.
      def identifier
        numbers = content.unpack("w*")
        first = [numbers[0] / 40, 2].min
        [first, numbers[0] - (40 * first), *numbers.drop(1)].join(".")
      end

      def time
        text = content.delete_suffix("Z")
        text = (text[0, 2].to_i < 50 ? "20" : "19") + text if tag == 23
        Time.utc(*text.unpack("a4a2a2a2a2a2").map(&:to_i))
      end

      def text = content.dup.force_encoding(Encoding::UTF_8).scrub
      def bits = content.byteslice(1, content.bytesize)
    end

    class << self
      # Decodes the first value in some bytes.
      def decode(bytes) = one(bytes.b, 0).first

      # Decodes all values in some bytes.
      def all(bytes)
        found = []
        at = 0
        while at < bytes.bytesize
          value, at = one(bytes, at)
          found << value
        end
        found
      end

      private

      def one(bytes, at)
        tag, length = bytes.byteslice(at, 2).unpack("CC")
        raise ASN1Error, "not enough data" if length.nil?

        start = at + 2
        if length > 127
          octets = length & 127
          length = bytes.byteslice(start, octets).unpack1("H*").to_i(16)
          start += octets
        end
        raise ASN1Error, "too long" if start + length > bytes.bytesize

        value = Value.new(tag & 0x1f, tag.anybits?(0x20), bytes.byteslice(start, length), bytes.byteslice(at, start - at + length))
        [value, start + length]
      end
    end
  end

  # Reads and writes PEM, the text form of encoded bytes.
  module PEM
    def self.bytes(text, label)
      text = text.read if text.respond_to?(:read)
      found = text.match(/-----BEGIN (#{label})-----\s*(.*?)\s*-----END \1-----/m)
      found && [found[1], found[2].gsub(/^[A-Za-z-]+:.*$/, "").unpack1("m")]
    end

    def self.text(label, bytes) = "-----BEGIN #{label}-----\n#{[bytes].pack("m48")}-----END #{label}-----\n"
  end
end
