# frozen_string_literal: true

# Implements Net::HTTP through the host. Each request is separate, and no connection stays open. The host always checks
# certificates, even if a cookbook turns this off.

require_relative "protocol"
require_relative "http/header"

module Net
  class HTTP
    attr_reader :address, :port
    attr_accessor :open_timeout, :read_timeout, :write_timeout, :ssl_timeout, :continue_timeout, :keep_alive_timeout,
                  :verify_mode, :verify_callback, :verify_depth, :verify_hostname, :ca_file, :ca_path, :cert, :key,
                  :cert_store, :ciphers, :ssl_version, :min_version, :max_version, :max_retries, :local_host, :local_port,
                  :ignore_eof, :extra_chain_cert, :proxy_from_env, :proxy_address, :proxy_port, :proxy_user, :proxy_pass
    attr_writer :use_ssl

    class << self
      def default_port = 80
      alias http_default_port default_port
      def https_default_port = 443
      def version_1_2 = true
      def version_1_2? = true
      def version_1_1? = false
      def proxy_class? = false

      # Methods for single requests, which return the body or the response.
      def get(target, path_or_fields = nil, port = nil) = get_response(target, path_or_fields, port).body
      def get_print(*arguments) = print(get(*arguments))

      def get_response(target, path_or_fields = nil, port = nil, &block)
        return start(target, port || default_port) { |http| http.request_get(path_or_fields, &block) } if target.is_a?(String)

        of_uri(target) { |http| http.request_get(target, path_or_fields, &block) }
      end

      def post(uri, data, fields = nil) = of_uri(uri) { |http| http.post(uri, data, fields) }
      def put(uri, data, fields = nil) = of_uri(uri) { |http| http.put(uri, data, fields) }

      def post_form(uri, fields)
        request = Post.new(uri)
        request.form_data = fields
        request.basic_auth(uri.user, uri.password) if uri.user
        of_uri(uri) { |http| http.request(request) }
      end

      def start(address, *arguments, &block)
        options = arguments.last.is_a?(Hash) ? arguments.pop : {}
        http = new(address, *arguments)
        options.each { |name, value| http.public_send("#{name}=", value) if http.respond_to?("#{name}=") }
        http.start(&block)
      end

      alias newobj new

      def Proxy(*) = self

      private

      def of_uri(uri, &) = start(uri.hostname, uri.port, use_ssl: uri.scheme == "https", &)
    end

    def initialize(address, port = nil, *_proxy)
      @address = address
      @port = port || HTTP.default_port
      @use_ssl = false
      @started = false
      @open_timeout = @read_timeout = 60
    end

    def use_ssl? = @use_ssl
    def started? = @started
    alias active? started?
    def proxy? = false
    def set_debug_output(_output) = nil
    def peer_cert = nil
    def inspect = "#<#{self.class} #{@address}:#{@port} open=#{@started}>"

    def start
      raise IOError, "HTTP session already opened" if @started

      @started = true
      return self unless block_given?

      begin
        yield self
      ensure
        @started = false
      end
    end

    def finish
      raise IOError, "HTTP session not yet started" unless @started

      @started = false
    end

    def get(path, fields = nil, into = nil, &) = request(Get.new(path, fields)) { |response| response.read_body(into, &) }
    def head(path, fields = nil) = request(Head.new(path, fields))
    def post(path, data, fields = nil, into = nil, &) = request(Post.new(path, fields), data) { |response| response.read_body(into, &) }
    def put(path, data, fields = nil) = request(Put.new(path, fields), data)
    def patch(path, data, fields = nil, into = nil, &) = request(Patch.new(path, fields), data) { |response| response.read_body(into, &) }
    def delete(path, fields = nil) = request(Delete.new(path, fields))
    def options(path, fields = nil) = request(Options.new(path, fields))
    def request_get(path, fields = nil, &) = request(Get.new(path, fields), &)
    def request_head(path, fields = nil, &) = request(Head.new(path, fields), &)
    def request_post(path, data, fields = nil, &) = request(Post.new(path, fields), data, &)
    def request_put(path, data, fields = nil, &) = request(Put.new(path, fields), data, &)
    alias get2 request_get
    alias head2 request_head
    alias post2 request_post
    alias put2 request_put

    def send_request(name, path, data = nil, fields = nil)
      request(HTTPGenericRequest.new(name, !data.nil?, name != "HEAD", path, fields), data)
    end

    # Sends a request. Yields the response to the block and returns it.
    def request(request, data = nil)
      body = data || request.wrun_body
      body = body.read if body.respond_to?(:read)
      reply = exchange(request, body)
      response = respond(reply, request)
      yield response if block_given?
      response
    end

    private

    def exchange(request, body)
      fields = []
      request.each_capitalized { |name, value| fields << [name, value] unless %w[Host Content-Length].include?(name) }
      fields << ["Content-Type", "application/x-www-form-urlencoded"] if body && !request.key?("content-type")
      Wrun::Machine.http(request.method, url(request), fields, body)
    end

    def url(request)
      return request.path if request.path.match?(%r{\Ahttps?://})

      scheme = use_ssl? ? "https" : "http"
      host = @address.include?(":") && !@address.start_with?("[") ? "[#{@address}]" : @address
      path = request.path.start_with?("/") ? request.path : "/#{request.path}"
      port = @port.to_i == (use_ssl? ? 443 : 80) ? "" : ":#{@port}"
      "#{scheme}://#{host}#{port}#{path}"
    end

    def respond(reply, request)
      phrase = HTTPResponse::PHRASES[reply.status.to_s] || ""
      response = HTTPResponse.code_type(reply.status).new("1.1", reply.status, phrase)
      reply.headers.each { |name, value| response.add_field(name, value) }
      # The host has already decoded the body, so these fields no longer apply.
      %w[content-encoding transfer-encoding].each { |name| response.delete(name) }
      response.uri = request.uri
      response.body = text_of(reply.body, response) if request.response_body_permitted?
      response
    end

    # Returns the body as UTF-8 text if it is valid UTF-8, or else as bytes.
    def text_of(bytes, _response) = bytes.force_encoding(Encoding::UTF_8).valid_encoding? ? bytes : bytes.b
  end

  HTTPSession = HTTP
end

require_relative "http/request"
require_relative "http/response"
require_relative "../socket" unless defined?(SocketError)
