# frozen_string_literal: true

# The canonical forms of built-in types' values, as cookbooks see them when they read a property. The host brings values to
# these forms too and checks them again; what cannot be brought there goes on as it is.

require "shellwords"

module Wrun
  module Resources
    module Coercions
      WEEKDAYS = %w[sun mon tue wed thu fri sat].freeze

      ALL = {
        symbol: ->(value) { value.is_a?(String) ? value.to_sym : value },
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
        integer: ->(value) { value.is_a?(String) ? Integer(value, 10, exception: false) || value : value },
        false_to_nil: ->(value) { false.equal?(value) ? nil : value },
        sudoers_file_name: ->(value) { value.is_a?(String) ? value.gsub(/[.~]/, "__") : value },
        conf_file_name: ->(value) { value.is_a?(String) && !value.end_with?(".conf") ? "#{value}.conf" : value },
        timeout: ->(value) { value.is_a?(Integer) || value.is_a?(String) ? { "duration" => value } : value },
      }.freeze

      class << self
        # As an option of `property`: run in a resource, so it must not depend on self.
        def fetch(name)
          coercion = ALL.fetch(name)
          proc { |value| coercion.call(value) }
        end

        # A check by what is said of a value that fails it. Others are the host's alone.
        def check(message)
          return ->(value) { mode?(value) } if message == "not in valid numeric range"

          ->(_value) { true }
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

        def weekday(value)
          return value unless value.is_a?(String) || value.is_a?(Symbol)

          number = WEEKDAYS.index(value.to_s.downcase[0, 3])
          number && value.to_s.match?(/\A[a-z]+\z/i) ? number.to_s : value
        end

        def mode?(value)
          number = value.is_a?(String) ? value.match?(/\A\d+\z/) && value.oct : value
          number.is_a?(Integer) ? number.between?(0, 0o7777) : value.is_a?(String) && !value.match?(/\A\d/)
        end
      end
    end

    # Properties whose calls add up: `verify "command"`, `verify { |path| .. }`.
    module Collecting
      class << self
        def for(name)
          slot = :"@#{name}"
          Module.new do
            define_method(name) do |value = Chef::NOT_PASSED, _options = {}, &block|
              return instance_variable_get(slot) || [] if Chef::NOT_PASSED.equal?(value) && block.nil?

              one = block || value
              instance_variable_set(slot, (instance_variable_get(slot) || []) + (one.is_a?(Array) ? one : [one]))
              wrun_collected(name) if @wrun_id
            end
          end
        end
      end
    end
  end
end
