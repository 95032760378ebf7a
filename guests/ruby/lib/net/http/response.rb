# frozen_string_literal: true

# Implements the response classes of Net::HTTP, one for each status code.

require_relative "header"

module Net
  # Errors with a response.
  module HTTPExceptions
    attr_reader :response
    alias data response

    def initialize(message, response)
      super(message)
      @response = response
    end
  end

  class HTTPBadResponse < StandardError; end
  class HTTPHeaderSyntaxError < StandardError; end

  class HTTPError < ProtocolError
    include HTTPExceptions
  end

  class HTTPRetriableError < ProtoRetriableError
    include HTTPExceptions
  end

  class HTTPServerException < ProtoServerError
    include HTTPExceptions
  end

  HTTPClientException = HTTPServerException

  class HTTPFatalError < ProtoFatalError
    include HTTPExceptions
  end

  class HTTPResponse
    include HTTPHeader

    EXCEPTION_TYPE = HTTPError

    attr_reader :http_version, :code, :message
    attr_accessor :uri, :decode_content, :body_encoding
    attr_writer :body
    alias msg message

    def initialize(http_version, code, message)
      @http_version = http_version
      @code = code.to_s
      @message = message
      @body = nil
      initialize_http_header(nil)
    end

    # Returns the whole body, and yields it to the block in one piece.
    def read_body(into = nil)
      into << @body if into && @body
      yield @body if block_given? && @body
      @body
    end

    def body = @body
    alias entity body

    def value = error!
    def error!
      raise error_type.new("#{@code} #{@message.dump}", self) unless is_a?(HTTPSuccess)
    end

    def error_type = self.class::EXCEPTION_TYPE
    def response = self
    def header = self
    def code_type = self.class
    def inspect = "#<#{self.class} #{@code} #{@message} readbody=true>"

    def self.code_type(code) = CODE_TO_OBJ[code.to_s] || CODE_CLASS_TO_OBJ[code.to_s[0]] || HTTPUnknownResponse
  end

  class HTTPUnknownResponse < HTTPResponse; end

  class HTTPInformation < HTTPResponse; end
  class HTTPSuccess < HTTPResponse; end

  class HTTPRedirection < HTTPResponse
    EXCEPTION_TYPE = HTTPRetriableError
  end

  class HTTPClientError < HTTPResponse
    EXCEPTION_TYPE = HTTPClientException
  end

  class HTTPServerError < HTTPResponse
    EXCEPTION_TYPE = HTTPFatalError
  end

  class HTTPResponse
    CODE_CLASS_TO_OBJ = {
      "1" => HTTPInformation, "2" => HTTPSuccess, "3" => HTTPRedirection, "4" => HTTPClientError, "5" => HTTPServerError
    }.freeze

    # The reason phrases of status codes. The names of the response classes derive from them.
    PHRASES = {
      "100" => "Continue", "101" => "Switching Protocol", "200" => "OK", "201" => "Created", "202" => "Accepted",
      "203" => "Non-Authoritative Information", "204" => "No Content", "205" => "Reset Content", "206" => "Partial Content",
      "207" => "Multi-Status", "300" => "Multiple Choices", "301" => "Moved Permanently", "302" => "Found",
      "303" => "See Other", "304" => "Not Modified", "305" => "Use Proxy", "307" => "Temporary Redirect",
      "308" => "Permanent Redirect", "400" => "Bad Request", "401" => "Unauthorized", "402" => "Payment Required",
      "403" => "Forbidden", "404" => "Not Found", "405" => "Method Not Allowed", "406" => "Not Acceptable",
      "407" => "Proxy Authentication Required", "408" => "Request Timeout", "409" => "Conflict", "410" => "Gone",
      "411" => "Length Required", "412" => "Precondition Failed", "413" => "Payload Too Large", "414" => "URI Too Long",
      "415" => "Unsupported Media Type", "416" => "Range Not Satisfiable", "417" => "Expectation Failed",
      "422" => "Unprocessable Entity", "423" => "Locked", "424" => "Failed Dependency", "426" => "Upgrade Required",
      "428" => "Precondition Required", "429" => "Too Many Requests", "431" => "Request Header Fields Too Large",
      "451" => "Unavailable For Legal Reasons", "500" => "Internal Server Error", "501" => "Not Implemented",
      "502" => "Bad Gateway", "503" => "Service Unavailable", "504" => "Gateway Timeout", "505" => "Version Not Supported",
      "507" => "Insufficient Storage", "511" => "Network Authentication Required"
    }.freeze

    CODE_TO_OBJ = PHRASES.to_h do |code, phrase|
      name = "HTTP#{phrase.split(/[ -]/).map { |word| word[0].upcase + word[1..] }.join}"
      [code, Net.const_set(name, Class.new(CODE_CLASS_TO_OBJ[code[0]]))]
    end.freeze
  end
end
