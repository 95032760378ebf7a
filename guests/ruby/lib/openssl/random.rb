# frozen_string_literal: true

# Takes random bytes from the host.

module OpenSSL
  module Random
    class RandomError < OpenSSLError; end

    def self.random_bytes(count) = Wrun::Machine.random_bytes(count)
    def self.pseudo_bytes(count) = random_bytes(count)
    def self.seed(_text) = nil
    def self.status? = true
  end
end
