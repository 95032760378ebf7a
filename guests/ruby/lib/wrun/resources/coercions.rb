# frozen_string_literal: true

# Converts values of built-in types to their canonical forms, which cookbooks see when they read a property. The host also
# converts and checks the values. A value that cannot be converted stays unchanged.

require "shellwords"

module Wrun
  module Resources
    module Coercions
      TIMEOUT_OPTIONS = %w[duration preserve-status foreground kill-after signal].freeze
      WEEKDAYS = %w[sun mon tue wed thu fri sat].freeze
      LONG_WEEKDAYS = %w[sunday monday tuesday wednesday thursday friday saturday].freeze
      MONTHS = %w[jan feb mar apr may jun jul aug sep oct nov dec].freeze

      MODES = "a mode is written in octal digits, as text or number: `mode \"0644\"` or `mode 0o644`"

      ALL = {
        symbol: ->(value) { value.is_a?(String) ? value.to_sym : value },
        symbol_with_colon: ->(value) { value.is_a?(String) ? value.delete_prefix(":").to_sym : value },
        shell_words: ->(value) { value.is_a?(String) ? value.shellsplit : value },
        comma_list: ->(value) { value.is_a?(String) ? value.split(/\s*,\s*/) : value },
        mount_options: ->(value) { (value.is_a?(String) ? value.split(",") : Array(value)).map { |one| one.to_s.strip } },
        sudo_groups: ->(value) { split(value).map { |one| one.start_with?("%") ? one : "%#{one}" } },
        wrapped: ->(value) { Array(value) },
        wrapped_unless_false: ->(value) { false.equal?(value) ? value : Array(value) },
        flattened: ->(value) { [value].flatten },
        flags: ->(value) { value.is_a?(Array) ? value.to_h { |one| [one, true] } : value },
        before_and_after: ->(value) { before_and_after(value) },
        lower_case: ->(value) { value.is_a?(String) ? value.downcase : value },
        no_trailing_slash: ->(value) { value.is_a?(String) && value != "/" && !value.end_with?(":/") ? value.chomp("/") : value },
        expanded_path: ->(value) { value.is_a?(String) ? ::File.expand_path(value, "/") : value },
        cron_weekday: ->(value) { weekday(value) },
        joined_by_blanks: ->(value) { value.is_a?(Array) ? value.join(" ") : value.to_s },
        joined_by_commas: ->(value) { value.is_a?(Array) ? value.join(", ") : value.to_s },
        leading_integer: ->(value) { value.is_a?(String) ? value.to_i : value },
        integer: ->(value) { Integer(value) },
        false_to_nil: ->(value) { false.equal?(value) ? nil : value },
        sudoers_file_name: ->(value) { value.is_a?(String) ? value.gsub(/[.~]/, "__") : value },
        conf_file_name: ->(value) { value.is_a?(String) && !value.end_with?(".conf") ? "#{value}.conf" : value },
        timeout: ->(value) { timeout(value) },
      }.freeze

      # The checks by their ids in the host's schema.
      CHECKS = {
        mode_in_range: ->(value) { Coercions.mode?(value) },
        cron_minute: ->(value) { Coercions.cron?(value, 0..59) },
        cron_hour: ->(value) { Coercions.cron?(value, 0..23) },
        cron_day: ->(value) { Coercions.cron?(value, 1..31) },
        cron_month: ->(value) { Coercions.cron?(value, 1..12, MONTHS) },
        cron_weekday: ->(value) { Coercions.cron?(value.to_s, 0..7, WEEKDAYS + LONG_WEEKDAYS) },
        cipher_name: ->(value) { value.to_s.match?(/\A[A-Za-z0-9_-]{1,63}\z/) },
      }.freeze

      class << self
        # Returns a coercion as an option of `property`. A resource runs it with another `self`, so it must not depend on
        # `self`.
        def fetch(name)
          coercion = ALL.fetch(name)
          proc { |value| coercion.call(value) }
        end

        # Returns the check with this id in the host's schema. An unknown id raises an error.
        def check(id) = CHECKS.fetch(id)

        # Returns true for a valid field of a cron entry: a number, a name, or a list, range or step of numbers. The
        # property's type refuses values that are neither integers nor texts.
        def cron?(value, range, names = [])
          return range.cover?(value) if value.is_a?(Integer)
          return true unless value.is_a?(String)
          return true if value == "*" || names.include?(value.downcase)

          value.split(%r{[/,-]}).all? { |part| part == "*" || (part.match?(/\A\d+\z/) && range.cover?(part.to_i)) }
        end

        # Returns true for a mode in range. For a text that is not a number, `Integer` raises an error without the property's
        # name, so a hint explains it.
        def mode?(value)
          value = "0#{value}" if value.is_a?(String) && !value.match?(/^0/)
          Integer(value).between?(0, 0o7777)
        rescue ArgumentError => e
          raise Hints.attach(e, MODES)
        end

        private

        def split(value) = value.is_a?(String) ? value.split(/\s*,\s*/) : Array(value).map(&:to_s)

        def before_and_after(value)
          case value
          when true, false then { before: value, after: value }
          when :before, :after, "before", "after" then { before: value.to_s == "before", after: value.to_s == "after" }
          when Array then { before: value.map(&:to_s).include?("before"), after: value.map(&:to_s).include?("after") }
          else value
          end
        end

        def timeout(value)
          case value
          when Integer, String then { "duration" => value }
          when Hash
            check_timeout(value)
            value
          end
        end

        def check_timeout(value)
          unknown = value.keys - TIMEOUT_OPTIONS
          unless unknown.empty?
            raise Chef::Exceptions::ValidationFailed,
                  "Key of option time_out must be equal to one of: \"#{TIMEOUT_OPTIONS.join('", "')}\"!  " \
                  "You passed \"#{unknown.join(", ")}\"."
          end
          return if value.values.all? { |one| (one.is_a?(String) || one.is_a?(Symbol)) && one.match?(/\A\S+/) }

          raise Chef::Exceptions::ValidationFailed,
                "Values of option time_out should be non-empty strings without any leading whitespace."
        end

        def weekday(value)
          return value unless value.is_a?(String) || value.is_a?(Symbol)

          name = value.to_s.downcase
          number = WEEKDAYS.index(name) || LONG_WEEKDAYS.index(name)
          number ? number.to_s : value
        end
      end
    end

    # Defines properties that collect the values of all calls: `verify "command"`, `verify { |path| .. }`.
    module Collecting
      class << self
        def for(name)
          # The variable differs from that of a plain property, because systemd_unit has a plain property of the same name.
          slot = :"@wrun_#{name}"
          Module.new do
            define_method(name) do |command = nil, options = {}, &block|
              unless [NilClass, String, Symbol].include?(command.class)
                raise ArgumentError, "verify requires either a string, symbol, or a block"
              end
              return instance_variable_get(slot) || [] if command.nil? && block.nil?

              one = block || (options.empty? ? command : [command, options])
              instance_variable_set(slot, (instance_variable_get(slot) || []) + [one])
              wrun_collected(name) if @wrun_id
            end
          end
        end
      end
    end
  end
end
