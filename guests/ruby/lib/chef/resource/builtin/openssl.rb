# frozen_string_literal: true

# Adds Ruby code to the `openssl_*` types. As in Chef, the library `openssl` is then loaded for cookbooks.

require "openssl"

class Chef
  class Resource
    class OpensslX509Crl
      # The host's numbers have 64 bits, but a certificate's serial number may have 160. A larger one becomes a text of
      # hexadecimal digits.
      LARGEST = (2**64) - 1

      property :serial_to_revoke, [Integer, String],
               coerce: proc { |serial| serial.is_a?(Integer) && serial > LARGEST ? serial.to_s(16) : serial }
    end
  end
end
