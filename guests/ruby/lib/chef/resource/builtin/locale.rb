# frozen_string_literal: true

# `locale`: the system's language and formats.

class Chef
  class Resource
    class Locale
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
    end
  end
end
