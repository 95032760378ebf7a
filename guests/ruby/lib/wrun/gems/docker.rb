# frozen_string_literal: true

# Defines the names of the gem docker-api, so that Ruby can load cookbooks that use it. The sandbox has no sockets to reach
# Docker's daemon, so each request raises an error that says so.

module Docker
  VERSION = "2.4.0"
  API_VERSION = "1.16"

  # The errors of docker-api.
  module Error
    class DockerError < StandardError; end

    %i[
      ArgumentError ClientError UnauthorizedError NotFoundError ConflictError ServerError UnexpectedResponseError VersionError
      TimeoutError AuthenticationError IOError StreamTimeout
    ].each { |name| const_set(name, Class.new(DockerError)) }
  end

  # Raises an error for each request to the daemon.
  module Unreachable
    def method_missing(name, *, **)
      # Ruby itself calls conversions such as `to_ary`, which must not raise the error below.
      return super if name.start_with?("to_")

      raise Error::IOError, "the sandbox has no sockets, so #{self} cannot ask Docker's daemon (#{name}): use the `docker` command"
    end

    def respond_to_missing?(name, _all = false) = !name.start_with?("to_")
  end

  # The connection to a daemon, which only keeps its address.
  class Connection
    attr_reader :url, :options

    def initialize(url, options)
      @url = url
      @options = options
    end

    include Unreachable
  end

  %i[Container Image Network Volume Event Exec Messages Plugin Swarm].each do |name|
    const_set(name, Class.new { extend Unreachable })
  end

  class << self
    attr_accessor :creds, :logger
    attr_writer :url, :options

    def url = @url || ENV["DOCKER_HOST"] || "unix:///var/run/docker.sock"
    def options = @options || {}
    def connection = Connection.new(url, options)
    def reset! = @url = @options = nil

    include Unreachable
  end
end
