# frozen_string_literal: true

# Implements the part of Addressable::URI that cookbooks use: reading, joining and writing URIs, and the percent signs in them.

require "uri"

module Addressable
  class URI
    class InvalidURIError < StandardError; end

    # The signs that stay as they are in each part, for a character class.
    module CharacterClasses
      ALPHA = "a-zA-Z"
      DIGIT = "0-9"
      SUB_DELIMS = "!$&'()*+,;="
      UNRESERVED = "a-zA-Z0-9\\-._~"
      RESERVED = ":/?#\\[\\]@#{SUB_DELIMS}"
      PCHAR = "#{UNRESERVED}#{SUB_DELIMS}:@"
      SCHEME = "a-zA-Z0-9\\-+."
      HOST = "#{UNRESERVED}#{SUB_DELIMS}\\[:\\]"
      AUTHORITY = "#{PCHAR}\\[\\]"
      PATH = "#{PCHAR}/"
      QUERY = "#{PCHAR}/?"
      FRAGMENT = "#{PCHAR}/?"
    end

    # The pattern of RFC 3986, appendix B.
    PATTERN = %r{\A(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?\z}m
    AUTHORITY = /\A(?:([^:@]*)(?::([^@]*))?@)?(\[[^\]]*\]|[^:]*)(?::(\d*))?\z/
    PORTS = { "http" => 80, "https" => 443, "ftp" => 21, "ssh" => 22, "ldap" => 389 }.freeze
    PARTS = %i[scheme user password host port path query fragment].freeze
    KEPT = {
      scheme: CharacterClasses::SCHEME, user: CharacterClasses::UNRESERVED, password: CharacterClasses::UNRESERVED,
      host: CharacterClasses::HOST, path: CharacterClasses::PATH, query: CharacterClasses::QUERY,
      fragment: CharacterClasses::FRAGMENT
    }.freeze
    private_constant :PATTERN, :AUTHORITY, :PARTS, :KEPT

    attr_accessor(*PARTS)

    class << self
      def parse(text)
        return text.dup if text.is_a?(self)
        return if text.nil?

        scheme, authority, path, query, fragment = text.to_s.match(PATTERN).captures
        user, password, host, port = authority&.match(AUTHORITY)&.captures
        raise InvalidURIError, "Invalid authority: #{text}" if authority && host.nil?

        new(scheme:, user:, password:, host:, port:, path:, query:, fragment:)
      end

      # Reads what a person may have typed: a host without a scheme.
      def heuristic_parse(text, hints = {})
        return parse(text) if text.nil? || text.to_s.match?(%r{\A[a-zA-Z][\w+.-]*:(?:/|[^\d])})

        parse("#{hints.fetch(:scheme, "http")}://#{text}")
      end

      def join(*parts) = parts.map { |part| parse(part) }.reduce { |base, part| base.join(part) }

      # Escapes each part of a URI. A percent sign is escaped, too.
      def encode(text, result = String)
        found = parse(text) or return
        KEPT.each { |part, signs| found.send("#{part}=", encode_component(found.send(part), signs)) }
        result == String ? found.to_s : found
      end
      alias escape encode

      def encode_component(text, kept = CharacterClasses::RESERVED + CharacterClasses::UNRESERVED, _upcase = "")
        return if text.nil?

        pattern = kept.is_a?(Regexp) ? kept : /[^#{kept}]/
        text.to_s.b.gsub(pattern) { |sign| sign.bytes.map { |byte| format("%%%02X", byte) }.join }.force_encoding(Encoding::UTF_8)
      end
      alias escape_component encode_component

      def unencode(text, result = String, leave = "")
        return if text.nil?

        plain = text.to_s.b.gsub(/%(\h\h)/) { |sign| [$1].pack("H*").then { |one| leave.include?(one) ? sign : one } }
        plain = plain.force_encoding(Encoding::UTF_8)
        result == String ? plain : parse(plain)
      end
      alias unescape unencode
      alias unencode_component unencode
      alias unescape_component unencode

      # Escapes what is not escaped yet.
      def normalized_encode(text, result = String)
        found = parse(text) or return
        PARTS.each { |part| part == :port || found.send("#{part}=", unencode(found.send(part))) }
        encode(found, result)
      end

      def normalize_component(text, kept = CharacterClasses::RESERVED + CharacterClasses::UNRESERVED)
        encode_component(unencode(text), kept)
      end

      def form_encode(values, _sort = false) = ::URI.encode_www_form(values)
      def form_unencode(text) = ::URI.decode_www_form(text.to_s)
    end

    def initialize(parts = {})
      parts.each { |part, value| PARTS.include?(part) && send("#{part}=", value) }
      self.authority = parts[:authority] if parts[:authority]
      self.query_values = parts[:query_values] if parts[:query_values]
      @path ||= ""
    end

    def port=(value)
      @port = value.nil? || value.to_s.empty? ? nil : Integer(value)
    end

    def path=(value)
      @path = value.to_s
    end

    alias hostname host
    alias hostname= host=
    def default_port = PORTS[scheme&.downcase]
    def inferred_port = port || default_port
    def userinfo = user && [user, password].compact.join(":")
    def authority = host && "#{"#{userinfo}@" if user}#{host}#{":#{port}" if port}"
    def site = (scheme || host) && "#{"#{scheme}:" if scheme}#{"//#{authority}" if host}"
    def origin = scheme && host && "#{scheme}://#{host}#{":#{port}" if port && port != default_port}"
    def request_uri = "#{path.empty? ? "/" : path}#{"?#{query}" if query}"
    def basename = ::File.basename(path)
    def extname = ::File.extname(path)
    def absolute? = !scheme.nil?
    def relative? = scheme.nil?
    def to_s = "#{site}#{path}#{"?#{query}" if query}#{"##{fragment}" if fragment}"
    alias to_str to_s
    def to_hash = PARTS.to_h { |part| [part, send(part)] }
    def inspect = "#<#{self.class.name} URI:#{self}>"
    def hash = to_s.hash
    def ==(other) = other.is_a?(URI) && normalize.to_s == other.normalize.to_s
    def eql?(other) = other.is_a?(URI) && to_s == other.to_s

    def authority=(value)
      @user, @password, @host, port = value.to_s.match(AUTHORITY).captures
      self.port = port
    end

    def query_values(kind = Hash)
      return if query.nil?

      pairs = query.split("&").map { |pair| pair.split("=", 2).map { |part| URI.unencode(part.tr("+", " ")) } }
      kind == Array ? pairs : pairs.to_h { |name, value| [name, value] }
    end

    def query_values=(values)
      pairs = values&.flat_map { |name, value| value.is_a?(Array) ? value.map { |one| [name, one] } : [[name, value]] }
      @query = pairs&.map { |pair| pair.compact.map { |part| escape_fully(part) }.join("=") }&.join("&")
    end

    # Resolves a reference against this URI, as RFC 3986 says.
    def join(other) = URI.parse(::URI.join(to_s, other.to_s).to_s)
    alias + join

    def join!(other) = take(join(other))
    def merge(parts) = dup.tap { |copy| parts.each { |part, value| copy.send("#{part}=", value) } }
    def normalize! = take(normalize)
    def omit(*parts) = merge(parts.to_h { |part| [part, nil] })

    def normalize
      found = URI.normalized_encode(self, URI)
      found.scheme = scheme&.downcase
      found.host = found.host&.downcase
      found.port = nil if port == default_port
      found.path = "/" if host && path.empty?
      found
    end

    private

    def escape_fully(part) = URI.encode_component(part, CharacterClasses::UNRESERVED)

    def take(other)
      PARTS.each { |part| send("#{part}=", other.send(part)) }
      self
    end
  end
end
