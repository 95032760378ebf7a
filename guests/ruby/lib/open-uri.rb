# frozen_string_literal: true

# Implements open-uri: reads the content of a URL through the host.

require "stringio"
require "time"
require "uri"
require "net/http"

module OpenURI
  # Raised for an unsuccessful response, or after too many redirects.
  class HTTPError < StandardError
    attr_reader :io

    def initialize(message, io)
      super(message)
      @io = io
    end
  end

  class HTTPRedirect < HTTPError; end

  # The metadata of fetched content.
  module Meta
    attr_accessor :base_uri, :status, :metas

    def meta = metas.transform_values { |values| values.join(", ") }
    def content_type = metas.fetch("content-type", ["application/octet-stream"]).first.split(";").first.strip
    def content_encoding = []
    def last_modified = metas.key?("last-modified") ? Time.httpdate(metas["last-modified"].first) : nil
    def charset = metas.fetch("content-type", [""]).first[/charset="?([^";]+)/, 1]&.downcase
  end

  # The maximum number of redirects.
  REDIRECTS = 10
  private_constant :REDIRECTS

  class << self
    def open_uri(target, mode = "r", *, **options)
      io = fetch(target.is_a?(URI::Generic) ? target : URI.parse(target.to_s), options)
      io.set_encoding(Encoding::BINARY) if mode.to_s.include?("b")
      return io unless block_given?

      begin
        yield io
      ensure
        io.close
      end
    end

    private

    def fetch(uri, options)
      REDIRECTS.times do
        response = ask(uri, options)
        io = wrap(response, uri)
        return io if response.is_a?(Net::HTTPSuccess)
        raise HTTPError.new("#{response.code} #{response.message}", io) unless response.is_a?(Net::HTTPRedirection) && response["location"]
        raise HTTPRedirect.new("#{response.code} #{response.message}", io) if options[:redirect] == false

        uri = URI.join(uri.to_s, response["location"])
      end
      raise HTTPError.new("Too many redirects", nil)
    end

    def ask(uri, options)
      raise ArgumentError, "the sandbox opens no #{uri.scheme} URLs" unless %w[http https].include?(uri.scheme)

      # Options with a string as their name are header fields.
      request = Net::HTTP::Get.new(uri, options.select { |name, _| name.is_a?(String) })
      user, password = options[:http_basic_authentication] || [uri.user, uri.password]
      request.basic_auth(user, password) if user
      Net::HTTP.start(uri.hostname, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }
    end

    def wrap(response, uri)
      io = StringIO.new(response.body || "")
      io.extend(Meta)
      io.base_uri = uri
      io.status = [response.code, response.message]
      io.metas = response.to_hash
      io
    end
  end

  # Adds `open` and `read` to URIs.
  module OpenRead
    def open(...) = OpenURI.open_uri(self, ...)
    def read(options = {}) = open(**options, &:read)
  end
end

module URI
  # Opens a URL if the name has a scheme, or else a file.
  def self.open(name, *rest, **options, &block)
    return name.open(*rest, **options, &block) if name.respond_to?(:open)
    return OpenURI.open_uri(name, *rest, **options, &block) if name.to_s.match?(%r{\A[a-z][a-z0-9+.-]*://}i)

    Kernel.open(name, *rest, **options, &block)
  end

  class HTTP
    include OpenURI::OpenRead
  end
end
