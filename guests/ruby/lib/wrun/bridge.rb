# frozen_string_literal: true

# The only connection to the host. Every effect of a cookbook outside of the sandbox goes through `Bridge.call`, as JSON. The
# host checks each call against the policy's grants, so cookbook code that calls this module directly gains nothing.

require "js.so"
require "json"

module Wrun
  # An error of the contract: its case (`denied`, `not-found`, ..) and the texts of the case.
  class Refused < StandardError
    attr_reader :reason, :texts

    def initialize(reason, texts)
      @reason = reason
      @texts = texts
      super(texts.join(": "))
    end
  end

  module Bridge
    # The function that leaves WebAssembly. In spite of its name, it runs no JavaScript: our adapter passes the text to the
    # bridge's Rust code.
    GATE = JS
    private_constant :GATE
    Object.send(:remove_const, :JS)

    VALUE, BYTES, MIXED, RAISED, REFUSED = "vbmre".bytes
    private_constant :VALUE, :BYTES, :MIXED, :RAISED, :REFUSED

    class << self
      # Calls a function of the contract: `Bridge.call("node.read", "merged", ["platform"])`. Returns the parsed JSON, a
      # binary string, or a pair of both.
      def call(function, *arguments) = call_text(function, JSON.generate(arguments))

      # Does the same as `call` and sends bytes along. The arguments refer to the bytes by `[offset, length]`.
      def call_with(bytes, function, *arguments) = call_text(function, JSON.generate(arguments), bytes)

      # Does the same as `call` or `call_with`, for arguments that are JSON text already.
      def call_text(function, json, bytes = nil)
        request = bytes ? "#{function}:#{json.bytesize} #{json}".b << bytes.b : "#{function} #{json}"
        open(GATE.eval(request).to_s)
      end

      private

      def open(reply)
        text = reply.byteslice(1, reply.bytesize)
        case reply.getbyte(0)
        when VALUE then number(text) || JSON.parse(text, max_nesting: false)
        when BYTES then text.force_encoding(Encoding::BINARY)
        when RAISED then raise Failures.rebuild(JSON.parse(text))
        when REFUSED then refuse(JSON.parse(text))
        when MIXED then open_mixed(text)
        end
      end

      # Parses the most frequent kind of reply without JSON: the number of a resource, a closure or a context.
      def number(text) = text.match?(/\A[1-9][0-9]{0,8}\z/) ? text.to_i : nil

      def refuse(words)
        raise Refused.new(words[0], words[1..])
      end

      def open_mixed(text)
        length = text.unpack1("V")
        json = text.byteslice(4, length).force_encoding(Encoding::UTF_8)
        [JSON.parse(json), text.byteslice(4 + length, text.bytesize).force_encoding(Encoding::BINARY)]
      end
    end
  end
end
