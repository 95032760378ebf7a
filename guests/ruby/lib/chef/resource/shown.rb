# frozen_string_literal: true

# Shows a resource as text, for errors and logs, and as data.

class Chef
  class Resource
    FORBIDDEN_IVARS = %i[
      @run_context @logger @not_if @only_if @enclosing_provider @description @introduced @examples @validation_message
      @deprecated @default_description @skip_docs @executed_by_runner @action_descriptions
    ].freeze
    HIDDEN_IVARS = (FORBIDDEN_IVARS + %i[@allowed_actions @resource_name @source_line @name @elapsed_time]).freeze

    # Returns the resource as the source text of a recipe.
    def to_text
      return "suppressed sensitive resource output" if sensitive

      text = +"# Declared in #{source_line}\n\n#{resource_name}(\"#{name}\") do\n"
      secret = self.class.sensitive_properties.to_h { |property| [property.instance_variable_name, property] }
      wrun_shown(HIDDEN_IVARS).each do |slot, value|
        if secret.key?(slot) then text << "  #{slot.name[1..]} \"*sensitive value suppressed*\"\n"
        elsif value && !(value.respond_to?(:empty?) && value.empty?) then text << "  #{slot.name[1..]} #{value_to_text(value)}\n"
        end
      end
      (@not_if + @only_if).each { |guard| text << "  #{guard.to_text}\n" }
      text << "end\n"
    end

    def value_to_text(value) = value.respond_to?(:to_text) ? value.to_text : value.inspect

    def inspect
      "<#{self}#{wrun_shown(FORBIDDEN_IVARS).map { |slot, value| " #{slot}: #{value.inspect}" }.join}>"
    end

    def as_json(*)
      { "json_class" => self.class.name, "instance_vars" => wrun_shown(FORBIDDEN_IVARS).transform_keys { |slot| slot.name[1..] } }
    end

    def to_json(*arguments) = as_json.to_json(*arguments)

    def to_h
      result = self.class.state_properties.to_h { |property| [property.name, property.get(self)] }
      shown = wrun_shown(FORBIDDEN_IVARS).transform_keys { |slot| slot.name[1..].to_sym }
      result.merge(shown) { |_, property, _| property }
    end
    alias to_hash to_h

    private

    # Returns variables and values in the order of Chef's resources. Some values come from other sources than instance
    # variables.
    def wrun_shown(hidden)
      shown = {
        :@name => @name, :@before => nil, :@params => @params || (enclosing_provider ? nil : {}), :@provider => @provider,
        :@allowed_actions => @allowed_actions, :@action => @action, :@updated => updated,
        :@updated_by_last_action => updated_by_last_action?, :@source_line => source_line,
        :@guard_interpreter => @guard_interpreter, :@default_guard_interpreter => default_guard_interpreter,
        :@elapsed_time => elapsed_time
      }
      instance_variables.each do |slot|
        shown[slot] = instance_variable_get(slot) unless shown.key?(slot) || slot.start_with?("@wrun_")
      end
      shown.except(*hidden)
    end
  end
end
