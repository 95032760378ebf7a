# frozen_string_literal: true

# Implements Chef::HTTP: sends requests relative to a URL through the host, and raises an error for an unsuccessful response.

require "json"
require "net/http"

class Chef
  class HTTP
    # The maximum number of redirects.
    REDIRECTS = 10
    private_constant :REDIRECTS

    attr_reader :url, :options
    attr_accessor :redirect_limit

    def initialize(url, options = {})
      @url = url.to_s
      @options = options || {}
      @headers = (@options[:headers] || {}).to_h { |name, value| [name.to_s, value] }
      @redirect_limit = REDIRECTS
    end

    def head(path, headers = {}) = request(:HEAD, path, headers)
    def get(path, headers = {}) = request(:GET, path, headers)
    def post(path, data, headers = {}) = request(:POST, path, headers, data)
    def put(path, data, headers = {}) = request(:PUT, path, headers, data)
    def patch(path, data, headers = {}) = request(:PATCH, path, headers, data)
    def delete(path, headers = {}) = request(:DELETE, path, headers)

    # Returns the response's content, or raises the error for an unsuccessful response.
    def request(method, path, headers = {}, data = false)
      body = data == false || data.nil? ? nil : outgoing(data)
      response = exchange(method, create_url(path), @headers.merge(outgoing_headers(body), strings(headers)), body)
      response.error! unless response.is_a?(Net::HTTPSuccess) || response.is_a?(Net::HTTPNotModified)
      return response.is_a?(Net::HTTPSuccess) if method == :HEAD
      return false if response.is_a?(Net::HTTPNotModified)

      incoming(response)
    end

    # Downloads content into a file on the machine. With a block, deletes the file after the block.
    def streaming_request(path, headers = {}, tempfile = nil)
      require "tempfile"
      tempfile ||= Tempfile.new("chef-rest")
      response = exchange(:GET, create_url(path), @headers.merge(strings(headers)), nil)
      response.error! unless response.is_a?(Net::HTTPSuccess)
      tempfile.binmode
      tempfile.write(response.body)
      tempfile.flush
      return tempfile unless block_given?

      yield tempfile
      tempfile.close!
    end

    alias streaming_request_with_progress streaming_request

    def create_url(path)
      path = path.to_s
      return URI.parse(path) if path.match?(%r{\Ahttps?://}i)

      URI.parse([@url.chomp("/"), path.delete_prefix("/")].reject(&:empty?).join("/"))
    end

    private

    def outgoing(data) = data.is_a?(String) ? data : JSON.generate(data)
    def outgoing_headers(_body) = {}
    def incoming(response) = response.body
    def strings(headers) = (headers || {}).to_h { |name, value| [name.to_s, value] }

    def exchange(method, uri, headers, body)
      @redirect_limit.times do
        request = Net::HTTPGenericRequest.new(method.to_s, !body.nil?, method != :HEAD, uri, headers)
        request.basic_auth(uri.user, uri.password) if uri.user
        request.body = body
        response = Net::HTTP.start(uri.hostname, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }
        return response unless response.is_a?(Net::HTTPRedirection) && response["location"]

        uri = URI.join(uri.to_s, response["location"])
      end
      raise Chef::Exceptions::RedirectLimitExceeded
    end

    # Returns the body unchanged.
    class Simple < HTTP; end

    # Sends and receives JSON.
    class SimpleJSON < HTTP
      private

      def outgoing(data) = JSON.generate(data)

      def outgoing_headers(body)
        body.nil? ? { "Accept" => "application/json" } : { "Accept" => "application/json", "Content-Type" => "application/json" }
      end

      def incoming(response)
        response["content-type"].to_s.include?("json") && response.body ? JSON.parse(response.body) : response.body
      end
    end
  end
end
