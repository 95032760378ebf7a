# frozen_string_literal: true

# Implements Mixlib::Log: a class that extends it becomes a logger with lines in the run's log.

module Mixlib
  module Log
    Chef::Log::LEVELS.each_with_index do |name, weight|
      define_method(name) do |message = nil, &block|
        weight < Chef::Log::LEVELS.index(level) ? false : Chef::Log.public_send(name, message, &block)
      end
      define_method(:"#{name}?") { weight >= Chef::Log::LEVELS.index(level) && Chef::Log.public_send(:"#{name}?") }
    end

    def level(level = nil) = level ? self.level = level : @level || Chef::Log.level
    def level=(level)
      raise ArgumentError, "Log level must be one of #{Chef::Log::LEVELS.map(&:inspect).join(", ")}" unless Chef::Log::LEVELS.include?(level.to_sym)

      @level = level.to_sym
    end

    def init(*) = self
    def logger = self
    def <<(message) = info(message.to_s.chomp).then { self }
  end
end
