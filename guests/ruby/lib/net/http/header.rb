# frozen_string_literal: true

# Implements the header fields of requests and responses.

require "uri"

module Net
  module HTTPHeader
    def initialize_http_header(fields)
      @header = {}
      fields&.each { |name, value| self[name] = value unless value.nil? }
    end

    def [](name) = @header[name.to_s.downcase]&.join(", ")

    def []=(name, value)
      return delete(name) if value.nil?

      @header[name.to_s.downcase] = Array(value).map(&:to_s)
    end

    def add_field(name, value) = (@header[name.to_s.downcase] ||= []).concat(Array(value).map(&:to_s))
    def get_fields(name) = @header[name.to_s.downcase]&.dup
    def fetch(name, *default, &) = @header.key?(name.to_s.downcase) ? self[name] : @header.fetch(name.to_s.downcase, *default, &)
    def delete(name) = @header.delete(name.to_s.downcase)
    def key?(name) = @header.key?(name.to_s.downcase)
    def to_hash = @header.dup
    def size = @header.size
    alias length size

    def each_header
      return to_enum(:each_header) unless block_given?

      @header.each { |name, values| yield(name, values.join(", ")) }
    end

    alias each each_header
    def each_name(&) = @header.each_key(&)
    alias each_key each_name
    def each_value = @header.each_value { |values| yield values.join(", ") }
    def each_capitalized = each_header { |name, value| yield(capitalize(name), value) }
    alias canonical_each each_capitalized
    def each_capitalized_name = each_name { |name| yield capitalize(name) }

    def content_length = self["content-length"]&.to_i
    def content_length=(length)
      self["Content-Length"] = length
    end

    def content_type = self["content-type"]&.split(";")&.first&.strip
    def main_type = content_type&.split("/")&.first
    def sub_type = content_type&.split("/", 2)&.at(1)
    def type_params = (self["content-type"] || "").split(";").drop(1).to_h { |one| one.strip.split("=", 2) }

    def set_content_type(type, parameters = {})
      self["Content-Type"] = [type, *parameters.map { |name, value| "#{name}=#{value}" }].join("; ")
    end

    def content_type=(type)
      set_content_type(type)
    end

    def set_form_data(fields, separator = "&")
      text = URI.encode_www_form(fields)
      self.body = separator == "&" ? text : text.gsub("&", separator)
      self.content_type = "application/x-www-form-urlencoded"
    end

    alias form_data= set_form_data

    def basic_auth(user, password)
      self["Authorization"] = "Basic #{["#{user}:#{password}"].pack("m0")}"
    end

    def proxy_basic_auth(user, password)
      self["Proxy-Authorization"] = "Basic #{["#{user}:#{password}"].pack("m0")}"
    end

    def range=(range)
      self["Range"] = range && "bytes=#{range.begin}-#{range.end}"
    end

    alias set_range range=
    def chunked? = self["transfer-encoding"].to_s.match?(/\bchunked\b/i)
    def connection_close? = false
    def connection_keep_alive? = false

    private

    def capitalize(name) = name.split("-").map(&:capitalize).join("-")
  end
end
