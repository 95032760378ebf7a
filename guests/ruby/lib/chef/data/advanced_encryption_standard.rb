# frozen_string_literal: true

# Implements AES with keys of 128 to 256 bits, in CBC and Galois/counter mode (FIPS 197, SP 800-38A and -38D). The runtime
# lacks OpenSSL, and encrypted data bags are small enough for an implementation in Ruby.

module Wrun
  class AdvancedEncryptionStandard
    class Failure < StandardError; end

    # Multiplication by x in the field of 2^8 elements.
    def self.doubled(byte) = ((byte << 1) ^ (byte[7] == 1 ? 0x11b : 0)) & 0xff

    def self.product(one, other)
      result = 0
      8.times do |bit|
        result ^= one if other[bit] == 1
        one = doubled(one)
      end
      result
    end

    # Computes the S-box: the inverse in the field, then an affine map.
    def self.substitution
      logarithms = {}
      powers = []
      255.times.inject(1) do |power, exponent|
        powers << power
        logarithms[power] = exponent
        power ^ doubled(power)
      end
      (0..255).map do |byte|
        inverse = byte.zero? ? 0 : powers[(255 - logarithms[byte]) % 255]
        (0..4).inject(0x63) { |sum, turn| sum ^ (((inverse << turn) | (inverse >> (8 - turn))) & 0xff) }
      end
    end

    BOX = substitution.freeze
    INVERSE_BOX = BOX.each_with_index.sort.map(&:last).freeze
    MIX = [2, 3, 1, 1].freeze
    UNMIX = [14, 11, 13, 9].freeze
    PRODUCTS = (MIX | UNMIX).to_h { |factor| [factor, (0..255).map { |byte| product(byte, factor) }.freeze] }.freeze
    # The old position of each byte of a block after the step ShiftRows.
    SHIFTED = (0..15).map { |at| (at + (4 * (at % 4))) % 16 }.freeze
    UNSHIFTED = (0..15).map { |at| (at - (4 * (at % 4))) % 16 }.freeze

    def initialize(key)
      raise ArgumentError, "a key has 16, 24 or 32 bytes" unless [16, 24, 32].include?(key.bytesize)

      @round_keys = expand(key.bytes)
    end

    def encrypt_block(block)
      state = mixed(block.bytes, @round_keys.first)
      @round_keys[1..].each_with_index do |round_key, round|
        state = SHIFTED.map { |from| BOX[state[from]] }
        state = columns(state, MIX) unless round == @round_keys.size - 2
        state = mixed(state, round_key)
      end
      state.pack("C*")
    end

    def decrypt_block(block)
      state = mixed(block.bytes, @round_keys.last)
      @round_keys[0...-1].reverse.each_with_index do |round_key, round|
        state = mixed(UNSHIFTED.map { |from| INVERSE_BOX[state[from]] }, round_key)
        state = columns(state, UNMIX) unless round == @round_keys.size - 2
      end
      state.pack("C*")
    end

    # Decrypts text in CBC mode and removes the padding.
    def decrypt_chained(text, vector)
      raise Failure, "wrong final block length" if text.empty? || text.bytesize % 16 != 0

      plain = blocks(text).inject([+"".b, vector]) do |(all, previous), block|
        [all << exclusive_or(decrypt_block(block), previous), block]
      end.first
      padding = plain.getbyte(-1)
      raise Failure, "bad decrypt" unless padding.between?(1, 16) && plain.end_with?(padding.chr.b * padding)

      plain.byteslice(0, plain.bytesize - padding)
    end

    def encrypt_chained(text, vector)
      padding = 16 - (text.bytesize % 16)
      text = text.b + (padding.chr.b * padding)
      blocks(text).inject([+"".b, vector]) do |(all, previous), block|
        block = encrypt_block(exclusive_or(block, previous))
        [all << block, block]
      end.first
    end

    # Encrypts or decrypts text in counter mode. The vector has twelve bytes.
    def count_over(text, vector)
      blocks(text).each_with_index.inject(+"".b) do |all, (block, index)|
        stream = encrypt_block(vector + [index + 2].pack("N"))
        all << exclusive_or(block, stream)
      end
    end

    # Returns the authentication tag of an encrypted text, without additional data.
    def tag(encrypted, vector)
      factor = number(encrypt_block("\0".b * 16))
      padded = encrypted.b + ("\0".b * (-encrypted.bytesize % 16)) + [0, encrypted.bytesize * 8].pack("Q>Q>")
      sum = blocks(padded).inject(0) { |hash, block| galois_product(hash ^ number(block), factor) }
      exclusive_or([sum >> 64, sum & 0xffff_ffff_ffff_ffff].pack("Q>Q>"), encrypt_block(vector + [1].pack("N")))
    end

    private

    def blocks(text) = (0...text.bytesize).step(16).map { |at| text.byteslice(at, 16) }
    def mixed(state, key) = state.each_with_index.map { |byte, at| byte ^ key[at] }
    def exclusive_or(one, other) = one.bytes.zip(other.bytes).map { |a, b| a ^ b }.pack("C*")
    def number(block) = block.unpack("Q>Q>").then { |high, low| (high << 64) | low }

    def columns(state, factors)
      rows = (0..3).map { |row| factors.rotate(-row).map { |factor| PRODUCTS[factor] } }
      state.each_slice(4).flat_map do |a, b, c, d|
        rows.map { |p, q, r, s| p[a] ^ q[b] ^ r[c] ^ s[d] }
      end
    end

    def galois_product(one, other)
      result = 0
      127.downto(0) do |bit|
        result ^= other if one[bit] == 1
        other = (other >> 1) ^ (other[0] == 1 ? 0xe1 << 120 : 0)
      end
      result
    end

    def expand(key)
      words = key.each_slice(4).to_a
      length = words.size
      round = 1
      (length...(4 * (length + 7))).each do |at|
        word = words.last
        if (at % length).zero?
          word = word.rotate.map { |byte| BOX[byte] }
          word[0] ^= round
          round = self.class.doubled(round)
        elsif length > 6 && at % length == 4
          word = word.map { |byte| BOX[byte] }
        end
        words << word.zip(words[at - length]).map { |a, b| a ^ b }
      end
      words.each_slice(4).map(&:flatten)
    end
  end
end
