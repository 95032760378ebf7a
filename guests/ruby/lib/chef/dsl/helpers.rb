# frozen_string_literal: true

# The helpers that recipes, resources, providers and attributes files share.

class Chef
  module DSL
    # Reads files of data.
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
      def render_yaml(hash) = hash.transform_keys(&:to_s).to_yaml.gsub(" :", " ")
      def render_toml(hash) = Toml.table(hash, [])
    end

    # Text in TOML, as far as plain data goes.
    module Toml
      class << self
        def table(hash, path)
          simple, tables = hash.sort_by { |key, _| key.to_s }.partition { |_, value| !table?(value) }
          text = simple.map { |key, value| "#{name(key)} = #{scalar(value)}\n" }.join
          text = "[#{path.join(".")}]\n#{text}" unless path.empty? || (simple.empty? && !tables.empty?)
          text + tables.map { |key, value| below(path + [name(key)], value) }.join
        end

        private

        def table?(value) = value.is_a?(Hash) || (value.is_a?(Array) && !value.empty? && value.all?(Hash))

        def below(path, value)
          return table(value, path) if value.is_a?(Hash)

          value.map { |one| "[[#{path.join(".")}]]\n#{table(one, [])}" }.join
        end

        def name(key) = key.to_s.match?(/\A[A-Za-z0-9_-]+\z/) ? key.to_s : key.to_s.to_json

        def scalar(value)
          case value
          when Array then "[#{value.map { |one| scalar(one) }.join(", ")}]"
          when Time then value.utc.strftime("%Y-%m-%dT%H:%M:%SZ")
          when Integer, Float, true, false then value.to_s
          else value.to_s.to_json
          end
        end
      end
    end

    module RebootPending
      def reboot_pending?
        run_context.reboot_requested? || (platform_family?("debian") && File.exist?("/var/run/reboot-required"))
      end
    end

    # The registry is Windows'.
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

    # Secrets of outer services. None of them can be reached from here, and each is named.
    module Secret
      def default_secret_service(service = nil)
        service.nil? ? run_context.default_secret_service : run_context.default_secret_service = service
      end

      def default_secret_config(**config)
        config.empty? ? run_context.default_secret_config : run_context.default_secret_config = config
      end

      def with_secret_service(service)
        before = run_context.default_secret_service
        run_context.default_secret_service = service
        yield
      ensure
        run_context.default_secret_service = before
      end

      def with_secret_config(**config)
        before = run_context.default_secret_config
        run_context.default_secret_config = config
        yield
      ensure
        run_context.default_secret_config = before
      end

      def secret(name: nil, service: default_secret_service, **)
        raise NotImplementedError, "the secret '#{name}' cannot be fetched: the service #{service.inspect} is not supported"
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

  # Cookbooks include what all should have into these.
  module Mixin
    module Language; end
  end
end
