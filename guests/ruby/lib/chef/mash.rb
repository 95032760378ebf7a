# frozen_string_literal: true

# Implements Mash, Chef's hash with keys that may be given as strings or symbols.

module ChefUtils
  class Mash < Hash
    alias regular_reader []
    alias regular_writer []=
    alias regular_update update
    alias regular_clear clear
    alias regular_delete delete
    alias regular_replace replace

    def self.from_hash(hash)
      mash = new(hash)
      mash.default = hash.default
      mash
    end

    def initialize(source = {}, &block)
      if source.is_a?(Hash)
        super(&block)
        update(source) unless source.empty?
      else
        super(source)
      end
    end

    # Copies the inner hashes and arrays too.
    def initialize_copy(original)
      super
      each { |key, value| regular_writer(key, value.dup) if value.is_a?(Mash) || value.is_a?(Array) }
    end

    # Returns the value for a symbol. Hash calls this method for keys that it does not find, and Mash stores its keys as
    # strings.
    def default(key = nil)
      return regular_reader(key.name) if key.is_a?(Symbol) && regular_key?(key.name)

      super
    end

    alias regular_key? key?
    private :regular_key?

    def []=(key, value)
      regular_writer(convert_key(key), convert_value(value))
    end

    alias store []=

    def internal_get(key) = regular_reader(key)
    def internal_set(key, value) = regular_writer(key, convert_value(value))

    def update(*others, &block)
      others.each do |other|
        other.each_pair do |key, value|
          key = convert_key(key)
          value = block.call(key, regular_reader(key), value) if block && regular_key?(key)
          regular_writer(key, convert_value(value))
        end
      end
      self
    end
    alias merge! update

    def key?(key) = regular_key?(convert_key(key))
    alias include? key?
    alias has_key? key?
    alias member? key?

    def fetch(key, *rest, &block) = super(convert_key(key), *rest, &block)
    def dig(key, *rest) = super(convert_key(key), *rest)
    def values_at(*keys) = keys.map { |key| self[convert_key(key)] }
    def merge(*others, &block) = dup.update(*others, &block)
    def delete(key, &block) = regular_delete(convert_key(key), &block)
    def compact = {}.update(self).compact
    def except(*keys) = super(*keys.map { |key| convert_key(key) })
    def stringify_keys! = self
    def symbolize_keys = each_with_object({}) { |(key, value), plain| plain[key.to_sym] = value }
    def to_hash = Hash.new(default).merge(self)

    protected

    def convert_key(key) = key.is_a?(Symbol) ? key.name : key

    def convert_value(value)
      if value.instance_of?(Hash) then Mash.from_hash(value)
      elsif value.is_a?(Array) then value.map { |one| convert_value(one) }
      else value
      end
    end
  end
end

Mash = ChefUtils::Mash unless defined?(Mash)

class Chef
  Mash = ChefUtils::Mash unless const_defined?(:Mash, false)
end
