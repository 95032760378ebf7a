# frozen_string_literal: true

# Implements the few functions of `socket` that cookbooks use and that need no socket: names and addresses. The sandbox has no
# sockets. The host opens connections for Net::HTTP.

class SocketError < StandardError; end

class BasicSocket < IO
  def self.do_not_reverse_lookup = true
  def self.do_not_reverse_lookup=(value)
    value
  end

  def self.new(*) = raise(NotImplementedError, "the sandbox has no sockets: use Net::HTTP, or a command where one is granted")

  class << self
    alias open new
  end
end

class Socket < BasicSocket
  AF_UNSPEC = 0
  AF_INET = 2
  AF_INET6 = 10
  PF_INET = AF_INET
  PF_INET6 = AF_INET6
  SOCK_STREAM = 1
  SOCK_DGRAM = 2

  class ResolutionError < SocketError; end

  class << self
    # Returns the machine's host name.
    def gethostname
      %w[machinename hostname].each do |name|
        _, found = Wrun::Bridge.call("node.keep", "merged", [name])
        return found if found.is_a?(String)
      end
      File.read("/proc/sys/kernel/hostname").strip
    end

    def gethostbyname(name)
      addresses = Wrun::Machine.addresses(name)
      [name, [], AF_INET, *addresses]
    end

    def getaddrinfo(name, port = nil, *)
      Wrun::Machine.addresses(name).map { |address| [address.include?(":") ? "AF_INET6" : "AF_INET", port, address, address] }
    end

    def ip_address_list = []
    def getifaddrs = []
    def tcp(*) = new
    def udp(*) = new
    def unix(*) = new
    def socketpair(*) = new
    alias pair socketpair
  end
end

class IPSocket < BasicSocket
  def self.getaddress(name) = Wrun::Machine.addresses(name).first
end

class TCPSocket < IPSocket
  def self.gethostbyname(name) = Socket.gethostbyname(name)
end

class TCPServer < TCPSocket; end
class UDPSocket < IPSocket; end
class UNIXSocket < BasicSocket; end
class UNIXServer < UNIXSocket; end

module Wrun
  module Machine
    # Returns the addresses of a host from the machine's command `getent`.
    def self.addresses(name)
      name = name.to_s
      return [name] if name.match?(/\A\d+\.\d+\.\d+\.\d+\z/) || name.include?(":")

      outcome = run(["getent", "ahosts", name])
      found = outcome.output.lines.map { |line| line.split.first }.uniq
      raise SocketError, "getaddrinfo: Name or service not known" if outcome.code != 0 || found.empty?

      found
    end
  end
end
