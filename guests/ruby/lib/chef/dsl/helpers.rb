# frozen_string_literal: true

# The helpers that recipes, resources, providers and attributes files share.

class Chef
  module DSL
    # Methods that read JSON and YAML files.
    module ReaderHelpers
      extend self

      def parse_file(path)
        case File.extname(path)
        when ".yaml", ".yml" then parse_yaml(path)
        when ".json" then parse_json(path)
        when ".toml" then parse_toml(path)
        end
      end

      def parse_json(path) = JSONCompat.parse(IO.read(path))
      def parse_yaml(path) = YAML.safe_load(IO.read(path), permitted_classes: [Date])

      def parse_toml(path)
        raise NotImplementedError, "TOML cannot be read here: #{path}"
      end
    end

    # Writes data as text.
    module RenderHelpers
      extend self

      def render_json(hash) = "#{JSON.pretty_generate(hash)}\n"
      def render_yaml(hash) = hash.transform_keys(&:to_s).to_yaml.gsub!(" :", " ")
      def render_toml(hash) = Toml.table(hash, [])
    end

    # Writes TOML as Chef does: sorted values, then tables, then lists of tables. Values without a TOML form appear as Ruby's
    # `inspect` shows them.
    module Toml
      class << self
        # Writes a table. It omits the header if the table contains only tables.
        def table(hash, path)
          bare = hash.any? && hash.values.all? { |value| table?(value) || tables?(value) }
          head = path.empty? || bare ? "" : "[#{path.join(".")}]\n"
          head + content(hash, path)
        end

        private

        def table?(value) = value.is_a?(Hash)
        def tables?(value) = value.is_a?(Array) && value.first.is_a?(Hash)

        def content(hash, path)
          sorted = hash.sort
          tables, others = sorted.partition { |_, value| table?(value) }
          lists, values = others.partition { |_, value| tables?(value) }
          values.map { |key, value| "#{name(key)} = #{form(value)}\n" }.join +
            tables.map { |key, value| table(value, path + [name(key)]) }.join +
            lists.map { |key, value| list(value, path + [name(key)]) }.join
        end

        def list(hashes, path) = hashes.map { |hash| "[[#{path.join(".")}]]\n#{content(hash, path)}" }.join
        def name(key) = key.to_s.match?(/^[a-zA-Z0-9_-]*$/) ? key : "\"#{key.gsub('"', '\\"')}\""

        def form(value)
          case value
          when Time, DateTime then value.strftime("%Y-%m-%dT%H:%M:%SZ")
          when Date then value.strftime("%Y-%m-%d")
          when Regexp then value.inspect.inspect
          when String then value.inspect.gsub(/\\(#[$@{])/, '\1')
          else value.inspect
          end
        end
      end
    end

    module RebootPending
      def reboot_pending?
        run_context.reboot_requested? || (platform_family?("debian") && File.exist?("/var/run/reboot-required"))
      end
    end

    # Windows has a registry. On Linux, these methods raise an error.
    module RegistryHelper
      %i[
        registry_key_exists? registry_get_values registry_has_subkeys? registry_get_subkeys registry_value_exists?
        registry_data_exists?
      ].each do |name|
        define_method(name) { |*| raise Exceptions::UnsupportedPlatform, node["platform"] }
      end
    end

    module Powershell
      def ps_credential(*) = raise(Exceptions::UnsupportedPlatform, node["platform"])
    end

    # Methods for secrets of external services: see `chef/secret_fetcher.rb`.
    module Secret
      def default_secret_service(service = nil)
        return run_context.default_secret_service if service.nil?

        known = SecretFetcher::SECRET_FETCHERS
        unless known.include?(service)
          raise Exceptions::Secret::InvalidFetcherService.new("Unsupported secret service: #{service.inspect}", known)
        end

        run_context.default_secret_service = service
      end

      def default_secret_config(**config)
        config.empty? ? run_context.default_secret_config : run_context.default_secret_config = config
      end

      def with_secret_service(service)
        raise ArgumentError, "You must pass a block to #with_secret_service" unless block_given?

        begin
          before = run_context.default_secret_service
          default_secret_service(service)
          yield
        ensure
          run_context.default_secret_service = before
        end
      end

      def with_secret_config(**config)
        raise ArgumentError, "You must pass a block to #with_secret_config" unless block_given?

        begin
          before = run_context.default_secret_config
          default_secret_config(**config)
          yield
        ensure
          run_context.default_secret_config = before
        end
      end

      def secret(name: nil, version: nil, service: default_secret_service, config: default_secret_config)
        sensitive(true) if is_a?(Chef::Resource)
        SecretFetcher.for_service(service, config, run_context).fetch(name, version)
      end
    end

    module Universal
      include PlatformIntrospection
      include DataQuery
      include ChefVault
      include RegistryHelper
      include RebootPending
      include Powershell
      include ReaderHelpers
      include RenderHelpers
      include Secret
      include Mixin::PowershellExec
      include Mixin::PowershellOut

      def lazy(&block) = DelayedEvaluator.new(&block)
    end
  end

  # Cookbooks include modules into this one to give all recipes a method.
  module Mixin
    module Language; end
  end
end
