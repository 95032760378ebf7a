# frozen_string_literal: true

# Fetches secrets. The services of Chef's list are external and not supported, except `example`. This one has its secrets in
# its configuration and serves for tests of cookbooks.

class Chef
  class SecretFetcher
    SECRET_FETCHERS = %i[example aws_secrets_manager azure_key_vault hashi_vault akeyless_vault].freeze

    class Base
      attr_reader :config, :run_context

      def initialize(config, run_context)
        @config = config
        @run_context = run_context
      end

      def fetch(name, version = nil)
        raise Exceptions::Secret::MissingSecretName if name.to_s.empty?

        do_fetch(name, version)
      end

      def validate! = nil
      def do_fetch(_name, _version) = raise(NotImplementedError)
    end

    class Example < Base
      def validate!
        return if config.instance_of?(Hash)

        raise Exceptions::Secret::ConfigurationInvalid, "The Example fetcher requires a hash of secrets"
      end

      # The unbalanced parenthesis in the message is Chef's.
      def do_fetch(name, _version)
        config.fetch(name) { raise Exceptions::Secret::FetchFailed, "Secret #{name}) not found." }
      end
    end

    # An existing service that wrun does not support.
    class Unreachable < Base
      def initialize(service, config, run_context)
        super(config, run_context)
        @service = service
      end

      def do_fetch(name, _version)
        raise NotImplementedError, "the secret '#{name}' cannot be fetched: the service #{@service.inspect} is not supported"
      end
    end

    def self.for_service(service, config, run_context)
      fetcher =
        case service
        when :example then Example.new(config, run_context)
        when *SECRET_FETCHERS then Unreachable.new(service, config, run_context)
        when nil, "" then raise Exceptions::Secret::MissingFetcher, SECRET_FETCHERS
        else raise Exceptions::Secret::InvalidFetcherService.new("Unsupported secret service: '#{service}'", SECRET_FETCHERS)
        end
      fetcher.validate!
      fetcher
    end
  end
end
