# frozen_string_literal: true

# Sends HTTP requests through the host, within the policy's grants.

module Wrun
  module Machine
    # A response: status, header fields as pairs of lower-case name and value, and the body's bytes.
    HttpReply = Struct.new(:status, :headers, :body)

    # The exceptions of Net::HTTP for failed connections and responses, by the host's name of the error.
    UNANSWERED = {
      "EAI_NONAME" => "SocketError", "ETIMEDOUT" => "Net::OpenTimeout", "ETIME" => "Net::ReadTimeout",
      "ENODATA" => "EOFError", "EPROTO" => "OpenSSL::SSL::SSLError", "EBADMSG" => "Net::HTTPBadResponse"
    }.freeze
    private_constant :UNANSWERED

    # Sends a request and waits for the response.
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

      # Returns the exception that Net::HTTP would raise. For an error of the system, the message is the host's text alone,
      # which names the server.
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
