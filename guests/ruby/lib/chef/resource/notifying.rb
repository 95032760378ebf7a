# frozen_string_literal: true

# Implements `notifies` and `subscribes`.

class Chef
  class Resource
    WRUN_TIMINGS = { "delayed" => "delayed", "immediate" => "immediate", "immediately" => "immediate", "before" => "before" }.freeze
    private_constant :WRUN_TIMINGS

    # A notification of one receiver. `resource` is the receiver, or its key if it is not declared yet.
    Notification = Struct.new(:resource, :action, :notifying_resource, :unified_mode) do
      def duplicates?(other)
        unless other.respond_to?(:resource) && other.respond_to?(:action)
          raise ArgumentError, "only duck-types of Chef::Resource::Notification can be checked for duplication you gave #{other.inspect}"
        end

        other.resource == resource && other.action == action
      end

      def to_s = Kernel.instance_method(:to_s).bind_call(self)
    end

    # Return the notifications that this resource's `notifies` declared.
    def before_notifications = wrun_receivers("before")
    def immediate_notifications = wrun_receivers("immediate")
    def delayed_notifications = wrun_receivers("delayed")

    # Runs an action of another resource after this one has changed.
    def notifies(action, spec, timing = :delayed)
      ResourceCollection.validate_lookup_spec!(spec)
      targets = [spec].flatten
      word = WRUN_TIMINGS[timing.to_s] or raise invalid_timing(action, targets, timing)
      targets.each do |target|
        wrun_refuse_receiver(action, target)
        wrun_parties(target).each { |party| wrun_notification([action.to_s, party, word, false]) }
        (@wrun_receivers ||= []) << [word, target, action.to_sym]
      end
      true
    end

    # Runs an action of this resource after another one has changed.
    def subscribes(action, specs, timing = :delayed)
      [specs].flatten.each do |spec|
        ResourceCollection.validate_lookup_spec!(spec)
        # Like Chef, raises NoMethodError for a value that is neither a text nor a resource.
        spec.run_context unless spec.is_a?(String)
        word = WRUN_TIMINGS[timing.to_s] or raise invalid_timing(action, [self], timing, spec)
        # Like Chef, does not look up a type without brackets, so it matches no resource.
        parties = spec.is_a?(String) && !spec.include?("[") ? [spec] : wrun_parties(spec)
        parties.each { |party| wrun_notification([action.to_s, party, word, true]) }
      end
      true
    end

    # Code that adds notifications while its own action runs calls this afterwards. The host resolves them when it sends them.
    def resolve_notification_references(_always_raise = false) = nil

    def notifies_delayed(action, spec) = notifies(action, spec, :delayed)
    def notifies_immediately(action, spec) = notifies(action, spec, :immediately)
    def notifies_before(action, spec) = notifies(action, spec, :before)

    private

    def wrun_receivers(timing)
      (@wrun_receivers || []).filter_map do |word, target, action|
        Notification.new(wrun_receiver(target), action, self, !!run_context&.unified_mode) if word == timing
      end
    end

    def wrun_receiver(target)
      target.is_a?(Resource) ? target : run_context.resource_collection.find(target)
    rescue Exceptions::ResourceNotFound
      target
    end

    def invalid_timing(action, targets, timing, sender = self)
      message = "invalid timing: #{timing} for notifies(#{action}, #{targets.inspect}, #{timing}) resource #{sender} " \
                "Valid timings are: :delayed, :immediate, :immediately, :before"
      Wrun::Hints.suggest(ArgumentError.new(message), timing, WRUN_TIMINGS.keys)
    end

    # Raises an error for an invalid receiver. Chef raises it at converge, before any resource runs.
    def wrun_refuse_receiver(action, target)
      case target
      when Symbol
        raise Exceptions::InvalidResourceSpecification,
              "Resource #{self} is configured to notify resource #{target} with action #{action}, but #{target.inspect} is not valid " \
              "syntax to look up a resource in the resource collection. Notification is defined near #{source_line}"
      when Hash
        # For a hash with one type, the host reports an unknown resource.
        return unless target.size > 1

        raise Exceptions::InvalidResourceReference,
              "Notification #{target} from #{self} was created with a reference to multiple resources, but can only notify one " \
              "resource. Notifying resource was defined on #{source_line}"
      end
    end

    # Returns the other resources of a notification in the contract's form.
    def wrun_parties(spec)
      case spec
      when Resource then [spec.wrun_id || wrun_key(spec.declared_key)]
      when Hash then spec.map { |type, names| wrun_key("#{type}[#{Array(names).join(",")}]") }
      else [wrun_key(spec)]
      end
    end

    # Returns the key with the type's own name. A recipe may use any name that the type provides, but the host knows only the
    # type's own name.
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
