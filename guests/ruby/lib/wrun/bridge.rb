# frozen_string_literal: true

# The one door to the host. Everything a cookbook does that is more than computing goes through `Bridge.call`, as JSON;
# the host checks each call against the policy's grants, so whoever reaches this module directly gains nothing.

require "js.so"
require "json"

module Wrun
  # One of the contract's errors: its case (`denied`, `not-found`, ..) and what it says.
  class Refused < StandardError
    attr_reader :reason, :texts

    def initialize(reason, texts)
      @reason = reason
      @texts = texts
      super(texts.join(": "))
    end
  end

  module Bridge
    # Ruby's way out of WebAssembly. There is no JavaScript: our adapter takes the text to the bridge's Rust side.
    GATE = JS
    private_constant :GATE
    Object.send(:remove_const, :JS)

    VALUE, BYTES, MIXED, RAISED, REFUSED = "vbmre".bytes
    private_constant :VALUE, :BYTES, :MIXED, :RAISED, :REFUSED

    class << self
      # Calls a function of the contract: `Bridge.call("node.read", "merged", ["platform"])`. Returns what JSON says, a
      # binary string, or for replies that are both a pair of them.
      def call(function, *arguments) = call_text(function, JSON.generate(arguments))

      # As `call`, with bytes that the arguments speak of by `[offset, length]`.
      def call_with(bytes, function, *arguments) = call_text(function, JSON.generate(arguments), bytes)

      # As both, where the array of arguments is JSON text already.
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

      # What most replies are: the number of a resource, a closure or a context.
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
