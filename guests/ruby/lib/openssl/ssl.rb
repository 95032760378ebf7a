# frozen_string_literal: true

# Defines the constants that callers of Net::HTTP use. The host checks certificates.

module OpenSSL
  module SSL
    VERIFY_NONE = 0
    VERIFY_PEER = 1
    VERIFY_FAIL_IF_NO_PEER_CERT = 2
    VERIFY_CLIENT_ONCE = 4
    TLS1_VERSION = 0x301
    TLS1_1_VERSION = 0x302
    TLS1_2_VERSION = 0x303
    TLS1_3_VERSION = 0x304

    class SSLError < OpenSSLError; end

    class SSLContext
      def initialize(*) = raise(NotImplementedError, "the sandbox has no sockets: Net::HTTP is answered by the host")
    end

    class SSLSocket
      def initialize(*) = raise(NotImplementedError, "the sandbox has no sockets: Net::HTTP is answered by the host")
    end
  end
end
