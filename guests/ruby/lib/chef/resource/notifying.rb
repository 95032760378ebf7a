# frozen_string_literal: true

# `notifies` and `subscribes`.

class Chef
  class Resource
    WRUN_TIMINGS = { "delayed" => "delayed", "immediate" => "immediate", "immediately" => "immediate", "before" => "before" }.freeze
    private_constant :WRUN_TIMINGS

    # Wants another resource to do something when this one has changed.
    def notifies(action, spec, timing = :delayed)
      ResourceCollection.validate_lookup_spec!(spec)
      targets = [spec].flatten
      word = WRUN_TIMINGS[timing.to_s] or raise ArgumentError, invalid_timing(action, targets, timing)
      targets.each do |target|
        wrun_parties(target).each { |party| wrun_notification([action.to_s, party, word, false]) }
      end
      true
    end

    # Wants this resource to do something when another one has changed.
    def subscribes(action, specs, timing = :delayed)
      [specs].flatten.each do |spec|
        ResourceCollection.validate_lookup_spec!(spec)
        word = WRUN_TIMINGS[timing.to_s] or raise ArgumentError, invalid_timing(action, [self], timing, spec)
        wrun_parties(spec).each { |party| wrun_notification([action.to_s, party, word, true]) }
      end
      true
    end

    def notifies_delayed(action, spec) = notifies(action, spec, :delayed)
    def notifies_immediately(action, spec) = notifies(action, spec, :immediately)
    def notifies_before(action, spec) = notifies(action, spec, :before)

    private

    def invalid_timing(action, targets, timing, sender = self)
      "invalid timing: #{timing} for notifies(#{action}, #{targets.inspect}, #{timing}) resource #{sender} " \
        "Valid timings are: :delayed, :immediate, :immediately, :before"
    end

    # The other ends of a notification, as the contract names them.
    def wrun_parties(spec)
      case spec
      when Resource then [spec.wrun_id || wrun_key(spec.declared_key)]
      when Hash then spec.flat_map { |type, names| Array(names).map { |name| wrun_key("#{type}[#{name}]") } }
      else [wrun_key(spec)]
      end
    end

    # The host knows resources by the names of their types, a recipe also by others that a type provides.
    def wrun_key(key)
      type, bracket, rest = key.partition("[")
      return "#{wrun_kind_of(key)}[]" if bracket.empty?

      "#{wrun_kind_of(type)}[#{rest}"
    end

    def wrun_kind_of(type) = ResourceResolver.resolve(type, node: node)&.wrun_kind || type

    def wrun_notification(wish)
      @wrun_id ? wrun_amend(notification: wish) : (@wrun_notifications ||= []) << wish
    end
  end
end
