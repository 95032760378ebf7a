# frozen_string_literal: true

# The names of the gem docker-api, so that cookbooks which use it can be read. Docker's daemon is spoken to through a
# socket, which the sandbox has not: whatever would ask it says so.

module Docker
  VERSION = "2.4.0"
  API_VERSION = "1.16"

  # What a daemon answers with, and what goes wrong on the way to it.
  module Error
    class DockerError < StandardError; end

    %i[
      ArgumentError ClientError UnauthorizedError NotFoundError ConflictError ServerError UnexpectedResponseError VersionError
      TimeoutError AuthenticationError IOError StreamTimeout
    ].each { |name| const_set(name, Class.new(DockerError)) }
  end

  # How a request says that nobody can be asked.
  module Unreachable
    def method_missing(name, *, **)
      # Ruby itself asks whether an object is another one too.
      return super if name.start_with?("to_")

      raise Error::IOError, "the sandbox has no sockets, so #{self} cannot ask Docker's daemon (#{name}): use the `docker` command"
    end

    def respond_to_missing?(name, _all = false) = !name.start_with?("to_")
  end

  # Where a daemon would be.
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
