# frozen_string_literal: true

# One exchange over HTTP, done by the host within the policy's grants.

module Wrun
  module Machine
    # What came back: status, header fields as pairs of lower-case name and value, and the body's bytes.
    HttpReply = Struct.new(:status, :headers, :body)

    # Sends a request and waits for what comes back.
    def self.http(method, url, headers, body)
      settle
      bytes = body&.b
      (status, fields), content =
        if bytes
          ask_with(bytes, nil, "machine.http", method, url, headers, [0, bytes.bytesize])
        else
          ask(nil, "machine.http", method, url, headers, nil)
        end
      HttpReply.new(status, fields, content)
    ensure
      Timeout.check_all if defined?(Timeout)
    end
  end
end
