# frozen_string_literal: true

# A resource as text: for errors, logs and those who look inside.

class Chef
  class Resource
    FORBIDDEN_IVARS = %i[
      @run_context @logger @not_if @only_if @enclosing_provider @description @introduced @examples @validation_message
      @deprecated @default_description @skip_docs @executed_by_runner @action_descriptions
    ].freeze
    HIDDEN_IVARS = (FORBIDDEN_IVARS + %i[@allowed_actions @resource_name @source_line @name @elapsed_time]).freeze

    # The resource as one would write it.
    def to_text
      return "suppressed sensitive resource output" if sensitive

      text = +"# Declared in #{source_line}\n\n#{resource_name}(\"#{name}\") do\n"
      secret = self.class.sensitive_properties.to_h { |property| [property.instance_variable_name, property] }
      (shown_ivars - HIDDEN_IVARS).each do |slot|
        value = instance_variable_get(slot)
        if secret.key?(slot) then text << "  #{slot.name[1..]} \"*sensitive value suppressed*\"\n"
        elsif value && !(value.respond_to?(:empty?) && value.empty?) then text << "  #{slot.name[1..]} #{value_to_text(value)}\n"
        end
      end
      (@not_if + @only_if).each { |guard| text << "  #{guard.to_text}\n" }
      text << "end\n"
    end

    def value_to_text(value) = value.respond_to?(:to_text) ? value.to_text : value.inspect

    def inspect
      slots = shown_ivars - FORBIDDEN_IVARS
      "<#{self}#{slots.map { |slot| " #{slot}: #{instance_variable_get(slot).inspect}" }.join}>"
    end

    def as_json(*)
      slots = shown_ivars - FORBIDDEN_IVARS
      { "json_class" => self.class.name, "instance_vars" => slots.to_h { |slot| [slot.name[1..], instance_variable_get(slot)] } }
    end

    def to_json(*arguments) = as_json.to_json(*arguments)

    def to_h
      result = self.class.state_properties.to_h { |property| [property.name, property.get(self)] }
      (shown_ivars - FORBIDDEN_IVARS).each do |slot|
        key = slot.name[1..].to_sym
        result[key] = instance_variable_get(slot) unless result.key?(key)
      end
      result
    end
    alias to_hash to_h

    private

    def shown_ivars = instance_variables.reject { |slot| slot.start_with?("@wrun_") }
  end
end
