# frozen_string_literal: true

# Implements IPAddress of the gem ipaddress, which is part of Ohai, with Ruby's own IPAddr.

require "ipaddr"

module IPAddress
  # An IPv4 or IPv6 address with the length of its prefix. The default is the length of the address.
  class Address
    include Comparable

    attr_reader :address, :prefix

    def self.parse(text) = new(text)

    def initialize(text)
      @address, prefix = text.to_s.split("/", 2)
      @host = IPAddr.new(@address)
      raise ArgumentError, "Invalid IP #{text.inspect}" unless kind?(@host)

      @prefix = prefix.nil? ? bits : prefix_of(prefix)
    rescue IPAddr::Error
      raise ArgumentError, "Invalid IP #{text.inspect}"
    end

    def ipv4? = @host.ipv4?
    def ipv6? = @host.ipv6?
    def to_i = @host.to_i
    alias to_u32 to_i
    def to_s = @address
    def to_string = "#{@address}/#{@prefix}"
    def network = self.class.new("#{masked}/#{@prefix}")
    def network? = network.to_i == to_i && @prefix < bits
    def netmask = at((all << (bits - @prefix)) & all)
    def broadcast = self.class.new("#{at(network.to_i | (all >> @prefix))}/#{@prefix}")
    def first = self.class.new("#{at(network.to_i + 1)}/#{@prefix}")
    def last = self.class.new("#{at(broadcast.to_i - 1)}/#{@prefix}")
    def size = 1 << (bits - @prefix)
    def include?(other) = @prefix <= other.prefix && (other.to_i >> (bits - @prefix)) == (to_i >> (bits - @prefix))
    def include_all?(*others) = others.all? { |other| include?(other) }
    def private? = @host.private?
    def loopback? = @host.loopback?
    def reverse = @host.reverse
    def hosts = (first.to_i..last.to_i).map { |number| self.class.new("#{at(number)}/#{@prefix}") }
    def <=>(other) = [to_i, @prefix] <=> [other.to_i, other.prefix]
    def hash = [to_i, @prefix].hash
    alias eql? ==

    private

    def all = (1 << bits) - 1
    def masked = at((to_i >> (bits - @prefix)) << (bits - @prefix))
    def at(number) = IPAddr.new(number, @host.family).to_s
    def prefix_of(text) = text.include?(".") ? IPAddr.new(text).to_i.to_s(2).count("1") : Integer(text, 10)
  end

  class IPv4 < Address
    def octets = @address.split(".").map(&:to_i)

    private

    def bits = 32
    def kind?(host) = host.ipv4?
  end

  class IPv6 < Address
    private

    def bits = 128
    def kind?(host) = host.ipv6?
  end

  class << self
    def parse(text)
      return IPv4.new([text].pack("N").unpack("C4").join(".")) if text.is_a?(Integer)

      text.to_s.include?(":") ? IPv6.new(text) : IPv4.new(text)
    end

    def valid?(text) = valid_ipv4?(text) || valid_ipv6?(text)
    def valid_ipv4?(text) = text.to_s.match?(/\A(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.|\z)){4}\z/)

    def valid_ipv6?(text)
      IPAddr.new(text.to_s).ipv6?
    rescue IPAddr::Error
      false
    end

    def valid_ip?(text) = valid?(text)
  end
end

module Kernel
  private

  def IPAddress(text) = IPAddress.parse(text) # rubocop:disable Naming/MethodName -- the gem's name
end
