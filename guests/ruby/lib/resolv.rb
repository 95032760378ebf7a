# frozen_string_literal: true

# Implements Resolv with the machine's command `getent`: finds addresses of names and names of addresses. Other kinds of
# records would need a socket; the list of servers is read from its file.

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
    # What the machine's file says about servers and domains.
    class Config
      def self.default_config_hash(path = "/etc/resolv.conf")
        lines = File.file?(path) ? File.readlines(path).map { |line| line.sub(/[#;].*/, "").split } : []
        found = lines.reject(&:empty?).group_by(&:first).transform_values { |all| all.map { |words| words.drop(1) } }
        domains = (found["search"] || found["domain"] || [[]]).last
        { nameserver: found.fetch("nameserver", []).flatten, search: domains, ndots: 1 }
      end

      def initialize(given = nil)
        @given = given
      end

      def lazy_initialize
        @config ||= @given.is_a?(Hash) ? @given : Config.default_config_hash(*@given)
        self
      end

      def nameserver_port
        servers = Array(lazy_initialize.config[:nameserver])
        servers.empty? ? [["0.0.0.0", 53]] : servers.map { |server| [server, 53] }
      end

      protected

      attr_reader :config
    end

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
