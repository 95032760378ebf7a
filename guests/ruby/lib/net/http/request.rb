# frozen_string_literal: true

# Implements the request classes of Net::HTTP.

require_relative "header"

module Net
  class HTTPGenericRequest
    include HTTPHeader

    attr_reader :method, :path, :uri
    attr_accessor :body, :body_stream

    def initialize(method, has_body, answers_body, target, fields = nil)
      @method = method
      @has_body = has_body
      @answers_body = answers_body
      @uri = target if target.is_a?(URI::Generic)
      @path = @uri ? @uri.request_uri : target.to_s
      raise ArgumentError, "HTTP request path is empty" if @path.empty?

      initialize_http_header(fields)
    end

    def request_body_permitted? = @has_body
    def response_body_permitted? = @answers_body
    def body_exist? = @answers_body
    def inspect = "#<#{self.class} #{method}>"

    # Returns the body to send, from `body` or `body_stream`.
    def wrun_body = body || body_stream&.read

    def set_form(fields, type = "application/x-www-form-urlencoded", **_options)
      raise NotImplementedError, "the sandbox sends no multipart forms" unless type == "application/x-www-form-urlencoded"

      set_form_data(fields)
    end
  end

  class HTTPRequest < HTTPGenericRequest
    def initialize(target, fields = nil)
      type = self.class
      super(type::METHOD, type::REQUEST_HAS_BODY, type::RESPONSE_HAS_BODY, target, fields)
    end
  end

  class HTTP
    { Get: [false, true], Head: [false, false], Post: [true, true], Put: [true, true], Delete: [false, true],
      Patch: [true, true], Options: [false, true], Trace: [false, true] }.each do |name, (has_body, answers_body)|
      type = const_set(name, Class.new(HTTPRequest))
      type.const_set(:METHOD, name.to_s.upcase)
      type.const_set(:REQUEST_HAS_BODY, has_body)
      type.const_set(:RESPONSE_HAS_BODY, answers_body)
    end
  end
end
