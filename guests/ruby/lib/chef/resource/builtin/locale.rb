# frozen_string_literal: true

# `locale`: the language that the machine's programs speak.

class Chef
  class Resource
    class Locale
      SETTINGS = "/etc/locale.conf"
      FAMILIES = %w[debian windows].freeze
      VARIABLES = %w[
        LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES LC_MONETARY LC_NAME LC_NUMERIC LC_PAPER
        LC_TELEPHONE LC_TIME
      ].freeze

      property :lc_env, Hash, default: {}, coerce: proc { |given| Locale.checked(given) }

      def self.checked(given)
        unknown = given.keys - VARIABLES
        unless unknown.empty?
          raise Exceptions::ValidationFailed,
                "Key of option lc_env must be equal to one of: \"#{VARIABLES.join('", "')}\"!  You passed \"#{unknown.join(", ")}\"."
        end
        return given if given.values.all? { |value| value.match?(/\A\S+/) }

        raise Exceptions::ValidationFailed,
              "Values of option lc_env should be non-empty string without any leading whitespace."
      end

      def lc_all(given = nil)
        return if given.nil?

        Chef.deprecated(:locale_lc_all, "Changing LC_ALL can break Chef Infra Client's parsing of command output in unexpected " \
                                        "ways.\n Use one of the more specific LC_ properties as needed.")
      end

      load_current_value do
        lang ::File.read(SETTINGS)[/^LANG=(.*)$/, 1] if ::File.exist?(SETTINGS)
      end

      action :update do
        converge_if_changed do
          missing = wanted - shell_out!("locale -a").stdout.split("\n")
          shell_out!("locale-gen #{missing.join(" ")}", timeout: 1800) unless missing.empty?
          text = settings
          file "Updating system locale" do
            path SETTINGS
            content text
          end
        end
      end

      action_class do
        def wanted = [new_resource.lang, *new_resource.lc_env.values].compact.uniq

        def settings
          all = new_resource.lc_env.to_h.dup
          all["LANG"] = new_resource.lang if new_resource.lang
          all.sort.map { |name, value| "#{name}=#{value}\n" }.join
        end

        def define_resource_requirements
          requirements.assert(:all_actions) do |platform|
            platform.assertion { FAMILIES.include?(node["platform_family"]) }
            platform.failure_message(Exceptions::ProviderNotFound,
                                     "The locale resource is not supported on platform family: #{node["platform_family"]}")
          end

          requirements.assert(:all_actions) do |tool|
            tool.assertion { which("locale-gen") }
            tool.failure_message(Exceptions::ProviderNotFound, "The locale resource requires the locale-gen tool")
          end
        end
      end
    end
  end
end
