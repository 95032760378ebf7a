# frozen_string_literal: true

# Implements Resolv with the machine's command `getent`: finds addresses of names and names of addresses. Other kinds of
# records would need a socket.

require "socket"

class Resolv
  class ResolvError < StandardError; end
  class ResolvTimeout < StandardError; end

  class << self
    def getaddress(name) = getaddresses(name).first || raise(ResolvError, "no address for #{name}")
    def getname(address) = getnames(address).first || raise(ResolvError, "no name for #{address}")
    def each_address(name, &) = getaddresses(name).each(&)

    def getaddresses(name)
      Wrun::Machine.addresses(name)
    rescue SocketError
      []
    end

    def getnames(address)
      outcome = Wrun::Machine.run(["getent", "hosts", address.to_s])
      outcome.code&.zero? ? outcome.output.lines.flat_map { |line| line.split.drop(1) } : []
    end
  end

  def initialize(*); end

  %i[getaddress getname getaddresses getnames each_address].each do |name|
    define_method(name) { |*arguments, &block| Resolv.public_send(name, *arguments, &block) }
  end

  # Like Resolv itself, these classes search both the hosts file and DNS.
  class Hosts < Resolv; end

  class DNS < Resolv
    def self.open(*)
      dns = new
      block_given? ? yield(dns) : dns
    end

    def close; end
    def timeouts=(value)
      value
    end

    %i[getresource getresources each_resource].each do |name|
      define_method(name) { |*| raise NotImplementedError, "the sandbox has no sockets: Resolv::DNS##{name}; use a command (`dig`) where one is granted" }
    end
  end

  module IPv4
    Regex = /\A(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\z/
  end

  module IPv6
    Regex = /\A[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\z/
  end

  AddressRegex = /(?:#{IPv4::Regex})|(?:#{IPv6::Regex})/
end
