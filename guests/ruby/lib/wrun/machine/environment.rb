# frozen_string_literal: true

# Implements ENV with the host's variables that the policy may read. A variable that a cookbook sets is visible only in its
# policy and in the commands that its Ruby code starts. Commands of resources and guards get it only if the policy may do
# everything.

module Wrun
  module Machine
    # The object behind ENV.
    class Environment
      include Enumerable

      # The names in a listing of ENV, which programs usually use. The contract returns one variable at a time and cannot list
      # all.
      USUAL = %w[
        EDITOR HOME HTTPS_PROXY HTTP_PROXY LANG LANGUAGE LC_ALL LC_CTYPE LOGNAME NO_PROXY OLDPWD PATH PWD SHELL SUDO_USER
        TEMP TERM TMP TMPDIR TZ USER http_proxy https_proxy no_proxy
      ].freeze
      private_constant :USUAL

      def initialize
        @changed = {}
      end

      # Returns the variables that this policy's commands get in addition to the host's clean environment.
      def for_commands = @changed.compact

      def [](name)
        name = text(name)
        return @changed[name] if @changed.key?(name)

        Bridge.call("machine.environment", name)&.freeze
      end

      def []=(name, value)
        name = text(name)
        raise Errno::EINVAL, name if name.empty? || name.include?("=")

        @changed[name] = value.nil? ? nil : text(value).dup.freeze
        tell_host(name)
      end

      alias store []=

      def fetch(name, *default)
        value = self[name]
        return value unless value.nil?
        return yield(name) if block_given?

        default.fetch(0) { raise KeyError.new("key not found: #{name.inspect}", receiver: self, key: name) }
      end

      def key?(name) = !self[name].nil?
      alias has_key? key?
      alias include? key?
      alias member? key?

      def delete(name)
        value = self[name]
        self[name] = nil
        value.nil? && block_given? ? yield(name) : value
      end

      def to_h(&block)
        all = (USUAL + @changed.keys).uniq.to_h { |name| [name, self[name]] }.compact
        block ? all.to_h(&block) : all
      end

      def to_hash = to_h
      def each(&block) = block ? to_h.each(&block).then { self } : to_h.each
      alias each_pair each
      def keys = to_h.keys
      def values = to_h.values
      def each_key(&) = keys.each(&).then { self }
      def each_value(&) = values.each(&).then { self }
      def size = to_h.size
      alias length size
      def empty? = to_h.empty?
      def key(value) = to_h.key(value)
      def value?(value) = to_h.value?(value)
      alias has_value? value?
      def values_at(*names) = names.map { |name| self[name] }
      def slice(*names) = to_h.slice(*names)
      def except(*names) = to_h.except(*names)
      def assoc(name) = key?(name) ? [name, self[name]] : nil
      def select(&) = to_h.select(&)
      alias filter select
      def reject(&) = to_h.reject(&)
      def to_a = to_h.to_a
      def rehash = nil
      def freeze = raise(TypeError, "cannot freeze ENV")

      def update(*others)
        others.each do |other|
          other.each { |name, value| self[name] = block_given? && key?(name) ? yield(name, self[name], value) : value }
        end
        self
      end

      alias merge! update

      def replace(other)
        (keys - other.keys).each { |name| delete(name) }
        update(other)
      end

      def clear = keys.each { |name| delete(name) }.then { self }

      def delete_if
        to_h.each { |name, value| delete(name) if yield(name, value) }
        self
      end

      def reject!(&) = to_h.any?(&) ? delete_if(&) : nil
      def keep_if = delete_if { |name, value| !yield(name, value) }
      def dup = raise(TypeError, "Cannot dup ENV, use ENV.to_h to get a copy of ENV as a hash")
      def clone(freeze: nil) = raise(TypeError, "Cannot clone ENV, use ENV.to_h to get a copy of ENV as a hash")
      def to_s = "ENV"
      def inspect = to_h.inspect

      private

      # Passes the variable to the host, for commands of resources and guards. If the policy lacks the grant, a warning for
      # the operator appears once.
      def tell_host(name)
        Bridge.call("machine.set-environment", name, @changed[name])
      rescue Refused => refused
        raise unless refused.reason == "denied"
        return if @told

        @told = true
        Bridge.call("output.note", "warn", "ENV[#{name.inspect}]: #{refused.texts[0].tr("\n", " ")}")
      end

      def text(value)
        String.try_convert(value) or raise TypeError, "no implicit conversion of #{value.class} into String"
      end
    end
  end
end

Object.send(:remove_const, :ENV)
ENV = Wrun::Machine::Environment.new
