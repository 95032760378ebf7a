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

    # `JSON.parse` reads its options anew in each call, which takes ten times as long as to parse a short reply.
    PARSER = JSON::Parser::Config.new(max_nesting: false)

    private_constant :PARSER

    # The characters that JSON escapes.
    SPECIAL = /["\\\x00-\x1f]/

    class << self
      # Calls a function of the contract: `Bridge.call("node.read", "merged", ["platform"])`. Returns the parsed JSON, a
      # binary string, or a pair of both.
      def call(function, *arguments) = call_text(function, list(arguments))

      # Does the same as `call` and sends bytes along. The arguments refer to the bytes by `[offset, length]`.
      def call_with(bytes, function, *arguments) = call_text(function, list(arguments), bytes)

      # Does the same as `call` or `call_with`, for arguments that are JSON text already.
      def call_text(function, json, bytes = nil)
        request = bytes ? "#{function}:#{json.bytesize} #{json}".append_as_bytes(bytes) : "#{function} #{json}"
        open(GATE.eval(request).to_s)
      end

      # Returns the JSON text of a value that needs no generator, or nil. Ruby's JSON generator takes ten times as long for short
      # names and numbers.
      def plain(value)
        case value
        when Integer, true, false then value.to_s
        when nil then "null"
        when Symbol then plain(value.name)
        when String then "\"#{value}\"" if value.ascii_only? && !SPECIAL.match?(value)
        when Array then plain_list(value) if value.instance_of?(Array)
        end
      end

      private

      # Returns the JSON text of arguments. Most of them are short names and numbers.
      def list(arguments) = "[#{arguments.map { |one| plain(one) || JSON.generate(one) }.join(",")}]"

      # Returns the JSON text of a list without lists and objects, or nil.
      def plain_list(values)
        texts = values.map { |one| one.is_a?(Array) ? nil : plain(one) }
        "[#{texts.join(",")}]" if texts.all?
      end

      def open(reply)
        text = reply.byteslice(1, reply.bytesize)
        case reply.getbyte(0)
        when VALUE then number(text) || PARSER.parse(text)
        when BYTES then text.force_encoding(Encoding::BINARY)
        when RAISED then raise Failures.rebuild(JSON.parse(text))
        when REFUSED then refuse(JSON.parse(text))
        when MIXED then open_mixed(text)
        end
      end

      # Parses the most frequent kind of reply without JSON: the number of a resource, a closure or a context.
      def number(text) = text.match?(/\A[1-9][0-9]{0,8}\z/) ? text.to_i : nil

      # Tells the host which line of the cookbook was denied something, as the cookbook may rescue the error.
      def refuse(words)
        call("output.denied-at", Sources.origin) if words[0] == "denied" && defined?(Sources)
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
