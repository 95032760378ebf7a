# frozen_string_literal: true

# Decodes and encodes ASN.1 (DER), as far as certificates and keys need it.

module OpenSSL
  module ASN1
    class ASN1Error < OpenSSLError; end

    # The numbers of the universal tags, by their names: `OpenSSL::ASN1::UTF8STRING`.
    {
      EOC: 0, BOOLEAN: 1, INTEGER: 2, BIT_STRING: 3, OCTET_STRING: 4, NULL: 5, OBJECT: 6, OBJECT_DESCRIPTOR: 7, EXTERNAL: 8,
      REAL: 9, ENUMERATED: 10, EMBEDDED_PDV: 11, UTF8STRING: 12, RELATIVE_OID: 13, SEQUENCE: 16, SET: 17, NUMERICSTRING: 18,
      PRINTABLESTRING: 19, T61STRING: 20, VIDEOTEXSTRING: 21, IA5STRING: 22, UTCTIME: 23, GENERALIZEDTIME: 24,
      GRAPHICSTRING: 25, ISO64STRING: 26, GENERALSTRING: 27, UNIVERSALSTRING: 28, BMPSTRING: 30
    }.each { |name, number| const_set(name, number) }

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
      # Encode a value, a whole number and a sequence of encoded values.
      def tagged(tag, content) = [tag].pack("C") + length(content.bytesize) + content

      def number(value)
        digits = value.to_s(16)
        digits = "0#{digits}" if digits.size.odd?
        tagged(2, ["#{"00" if digits.match?(/\A[89a-f]/)}#{digits}"].pack("H*"))
      end

      def sequence(*values) = tagged(0x30, values.join)

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

      def length(size)
        return [size].pack("C") if size < 128

        digits = size.to_s(16)
        octets = [digits.rjust(digits.size.ceildiv(2) * 2, "0")].pack("H*")
        [128 | octets.bytesize].pack("C") + octets
      end

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
