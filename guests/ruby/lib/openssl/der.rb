# frozen_string_literal: true

# Values written in ASN.1's distinguished encoding: as much of it as lists of revoked certificates need (X.690, 8 and 10).

module OpenSSL
  module DER
    class << self
      def sequence(*parts) = tagged(0x30, parts.join)
      def explicit(number, *parts) = tagged(0xa0 | number, parts.join)
      def integer(number) = tagged(0x02, number_bytes(number))
      def enumerated(number) = tagged(0x0a, number_bytes(number))
      def octets(bytes) = tagged(0x04, bytes)
      def bits(bytes) = tagged(0x03, "\0".b + bytes)
      def null = tagged(0x05, "")

      # Of a dotted object identifier.
      def identifier(text)
        first, second, *others = text.split(".").map(&:to_i)
        tagged(0x06, [(first * 40) + second, *others].pack("w*"))
      end

      # Two digits of the year are written before 2050, four from then on, and there are no more (RFC 5280, 5.1.2.4).
      def time(given)
        given = given.getutc
        raise ArgumentError, "a date between the years 1950 and 9999 is wanted, not #{given}" unless given.year.between?(1950, 9999)

        given.year < 2050 ? tagged(0x17, given.strftime("%y%m%d%H%M%SZ")) : tagged(0x18, given.strftime("%Y%m%d%H%M%SZ"))
      end

      # Any content under a tag's byte.
      def tagged(tag, content)
        content = content.b
        [tag].pack("C") + length(content.bytesize) + content
      end

      private

      def length(size)
        return [size].pack("C") if size < 128

        bytes = unsigned(size)
        [0x80 | bytes.bytesize].pack("C") + bytes
      end

      # In two's complement, as short as can be.
      def number_bytes(number)
        return unsigned(number).then { |bytes| bytes.getbyte(0) > 127 ? "\0".b + bytes : bytes } unless number.negative?

        size = ((number + 1).bit_length / 8) + 1
        unsigned(number + (1 << (8 * size)))
      end

      def unsigned(number)
        digits = number.to_s(16)
        [digits.rjust(digits.size + (digits.size % 2), "0")].pack("H*")
      end
    end
  end
end
