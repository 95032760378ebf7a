# frozen_string_literal: true

# Implements Mixlib::Config: a module or class that extends it becomes a set of settings, with defaults, checks and contexts
# within. `Chef::Config` has an implementation of its own.

require_relative "config/configurable"

module Mixlib
  module Config
    class UnknownConfigOptionError < StandardError; end
    class ReopenedConfigContextWithConfigurableError < StandardError; end
    class ReopenedConfigurableWithConfigContextError < StandardError; end

    NOT_PASSED = Object.new.freeze

    # The contexts of a `config_context_list` (an array) or `config_context_hash`, and the blocks that define each of them.
    Several = Struct.new(:definition_blocks, :values)
    private_constant :Several

    # Every set has its own state.
    module State
      attr_accessor :configuration, :configurables, :config_contexts, :config_context_lists, :config_context_hashes,
                    :config_parent
    end
    private_constant :State

    def self.extended(base)
      base.singleton_class.include(State)
      %i[configuration configurables config_contexts config_context_lists config_context_hashes].each do |part|
        base.public_send(:"#{part}=", {})
      end
    end

    def from_file(path)
      case File.extname(path)
      when ".yml", ".yaml" then from_yaml(path)
      when ".json" then from_json(path)
      when ".toml" then from_toml(path)
      else instance_eval(File.read(path), path, 1)
      end
    end

    def from_yaml(path) = from_hash(YAML.safe_load(File.read(path), permitted_classes: [Symbol], aliases: false))
    def from_json(path) = from_hash(JSON.parse(File.read(path)))

    def from_toml(path)
      require "toml-rb"
      from_hash(TomlRB.parse(File.read(path), symbolize_keys: true))
    end

    def from_hash(values) = values.each { |name, value| wrun_take(name.to_sym, value) }

    def configure = yield(configuration)
    def [](name) = internal_get(name.to_sym)

    def []=(name, value)
      internal_set(name.to_sym, value)
    end

    def key?(name) = configuration.key?(name.to_sym) || config_contexts.key?(name.to_sym)
    alias has_key? key?
    def keys = configuration.keys
    def delete(name) = configuration.delete(name)

    def is_default?(name)
      option = configurables[name.to_sym]
      raise ArgumentError, "config option must exist, and not be a context to check for default values" unless option

      option.is_default?(configuration)
    end

    def reset
      self.configuration = {}
      config_contexts.each_value(&:reset)
    end

    # Returns the values that were set, with those of the contexts, and the defaults of the others if they are wanted.
    def save(include_defaults = false)
      saved = configuration.dup
      wrun_missing_defaults.each { |name, option| saved[name] = option.default } if include_defaults
      sets = config_contexts.transform_values { |one| one.save(include_defaults) }
      saved.update(include_defaults ? sets : sets.reject { |_, set| set.empty? })
      config_context_lists.each do |name, several|
        sets = several.values.map { |one| one.save(include_defaults) }
        sets.reject!(&:empty?) unless include_defaults
        saved[name] = sets if sets.any?
      end
      config_context_hashes.each do |name, several|
        sets = several.values.transform_values { |one| one.save(include_defaults) }
        sets.reject! { |_, set| set.empty? } unless include_defaults
        saved[name] = sets if sets.any?
      end
      saved
    end
    alias to_hash save
    alias hash_dup save

    # Sets exactly these values: all others are as they were at first.
    def restore(values)
      self.configuration = values.reject { |name, _| config_contexts.key?(name) }
      config_contexts.each { |name, context| values.key?(name) ? context.restore(values[name]) : context.reset }
      config_context_lists.each do |name, several|
        several.values = values.fetch(name, []).map { |one| wrun_restored(several, one) }
      end
      config_context_hashes.each do |name, several|
        several.values = values.fetch(name, {}).transform_values { |one| wrun_restored(several, one) }
      end
    end

    def merge!(values)
      values.each do |name, value|
        config_contexts.key?(name) ? config_contexts[name].restore(value) : configuration[name] = value
      end
      self
    end

    def default(name, value = nil, &) = configurable(name).defaults_to(value, &)
    def config_attr_writer(name, &) = configurable(name).writes_value(&)

    def configurable(name)
      if config_contexts.key?(name)
        raise ReopenedConfigContextWithConfigurableError, "Cannot redefine config_context #{name} as a configurable value"
      end

      option = configurables.fetch(name) do
        wrun_define(name)
        configurables[name] = Configurable.new(name)
      end
      yield(option) if block_given?
      option
    end

    def config_context(name, &block)
      wrun_refuse_reopened(name)
      context = config_contexts.fetch(name) do
        wrun_define(name)
        config_contexts[name] = wrun_new_context
      end
      context.instance_eval(&block) if block
      context
    end

    # Contexts without names: the singular adds one, the plural returns all.
    def config_context_list(plural, singular, &block)
      several = wrun_several(config_context_lists, plural, [], block)
      define_singleton_method(plural) { several.values }
      define_singleton_method(singular) do |&given|
        wrun_within(wrun_new_context(several.definition_blocks).tap { |context| several.values << context }, given)
      end
    end

    # Contexts by their names: the singular adds one or changes it, the plural returns all.
    def config_context_hash(plural, singular, &block)
      several = wrun_several(config_context_hashes, plural, {}, block)
      define_singleton_method(plural) { several.values }
      define_singleton_method(singular) do |key, &given|
        wrun_within(several.values[key] ||= wrun_new_context(several.definition_blocks), given)
      end
    end

    def config_strict_mode(value = NOT_PASSED)
      return self.config_strict_mode = value unless NOT_PASSED.equal?(value)
      return @config_strict_mode unless @config_strict_mode.nil?

      config_parent ? config_parent.config_strict_mode : false
    end

    def config_strict_mode=(value)
      raise ArgumentError, "config_strict_mode must be true, false, nil or :warn" unless [true, false, nil, :warn].include?(value)

      @config_strict_mode = value
    end

    def method_missing(name, *values) = internal_get_or_set(name.name.delete_suffix("=").to_sym, values)
    def respond_to_missing?(*) = false

    protected

    # Takes one value of a hash or a file. A hash goes into a context, or is merged with a hash that is there.
    def wrun_take(name, value)
      return internal_set(name, value) unless value.is_a?(Hash)

      present = internal_get(name)
      present.is_a?(Hash) ? internal_set(name, present.merge(value)) : (present || config_context(name)).from_hash(value)
    end

    private

    def internal_get_or_set(name, values)
      internal_set(name, values.size == 1 ? values.first : values) unless values.empty?
      internal_get(name)
    end

    def internal_get(name)
      return configurables[name].get(configuration) if configurables.key?(name)
      return config_contexts[name] if config_contexts.key?(name)

      wrun_unknown("Reading", "Reading", name)
      configuration[name]
    end

    def internal_set(name, value)
      return configurables[name].set(configuration, value) if configurables.key?(name)
      return config_contexts[name].restore(value.to_hash) if config_contexts.key?(name)

      wrun_unknown("Setting", "Cannot set", name)
      configuration[name] = value
    end

    def wrun_unknown(warning, refusal, name)
      case config_strict_mode
      when :warn then Chef::Log.warn("#{warning} unsupported config value #{name}.")
      when true then raise UnknownConfigOptionError, "#{refusal} unsupported config value #{name}."
      end
    end

    # Defines the methods of a setting: `name`, `name(value)`, `name = value` and `name { .. }`.
    def wrun_define(name)
      define_singleton_method(:"#{name}=") { |value| internal_set(name, value) }
      define_singleton_method(name) do |*values, &block|
        block ? wrun_within(internal_get(name), block) : internal_get_or_set(name, values)
      end
    end

    def wrun_within(context, block) = block.arity.zero? ? context.instance_eval(&block) : block.call(context)

    def wrun_new_context(blocks = [])
      context = Class.new.extend(Config)
      context.config_parent = self
      blocks.each { |block| context.instance_eval(&block) }
      context
    end

    def wrun_several(kind, name, values, block)
      wrun_refuse_reopened(name)
      several = kind[name] ||= Several.new([], values)
      several.definition_blocks << block if block
      several
    end

    def wrun_restored(several, values) = wrun_new_context(several.definition_blocks).tap { |context| context.restore(values) }

    def wrun_missing_defaults = configurables.select { |name, option| !configuration.key?(name) && option.has_default? }

    def wrun_refuse_reopened(name)
      return unless configurables.key?(name)

      raise ReopenedConfigurableWithConfigContextError, "Cannot redefine config value #{name} with a config context"
    end
  end
end
