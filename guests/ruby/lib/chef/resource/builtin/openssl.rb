# frozen_string_literal: true

# The `openssl_*` types. Cookbooks find the library loaded, as in Chef.

require "openssl"

class Chef
  class Resource
    class OpensslX509Crl
      # The host's numbers have 64 bits, a certificate's number may have 160: larger ones are handed over by their digits.
      LARGEST = (2**64) - 1

      property :serial_to_revoke, [Integer, String],
               coerce: proc { |serial| serial.is_a?(Integer) && serial > LARGEST ? serial.to_s(16) : serial }
    end
  end
end
