# frozen_string_literal: true

# One exchange over HTTP, done by the host within the policy's grants.

module Wrun
  module Machine
    # What came back: status, header fields as pairs of lower-case name and value, and the body's bytes.
    HttpReply = Struct.new(:status, :headers, :body)

    # What Ruby's Net::HTTP raises where the host found no way to a server or no answer, by the host's name for it.
    UNANSWERED = {
      "EAI_NONAME" => "SocketError", "ETIMEDOUT" => "Net::OpenTimeout", "ETIME" => "Net::ReadTimeout",
      "ENODATA" => "EOFError", "EPROTO" => "OpenSSL::SSL::SSLError", "EBADMSG" => "Net::HTTPBadResponse"
    }.freeze
    private_constant :UNANSWERED

    # Sends a request and waits for what comes back.
    def self.http(method, url, headers, body)
      settle
      (status, fields), content = exchange(method, url, headers, body&.b)
      HttpReply.new(status, fields, content)
    rescue Refused => refused
      raise unanswered(refused), cause: nil
    ensure
      Timeout.check_all if defined?(Timeout)
    end

    class << self
      private

      def exchange(method, url, headers, bytes)
        return Bridge.call("machine.http", method, url, headers, nil) unless bytes

        Bridge.call_with(bytes, "machine.http", method, url, headers, [0, bytes.bytesize])
      end

      # As Net::HTTP does it: the system's own errors have a message that names the server and nothing before it.
      def unanswered(refused)
        require "openssl"
        name, text = refused.texts
        return failure(refused, nil) unless refused.reason == "system"
        return Object.const_get(UNANSWERED[name]).new(text) if UNANSWERED.key?(name)

        error = failure(refused, nil)
        error.is_a?(SystemCallError) ? error.exception(text) : error
      end
    end
  end
end
