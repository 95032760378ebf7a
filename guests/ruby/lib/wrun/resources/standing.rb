# frozen_string_literal: true

# A resource's other half: what the host knows of it. Ruby holds what was written, and says it to the host once, when the
# resource is declared; what is set later follows as an amendment.
#
# Methods and variables here begin with `wrun_`: anything else could be a cookbook's property.

require_relative "values"
require_relative "types"
require_relative "errand"

module Wrun
  module Resources
    # What checks new content, as the host hears of it.
    module Verification
      # Nothing on the host reads YAML.
      YAML = lambda do |path|
        Psych.parse_file(path)
        true
      rescue Psych::SyntaxError => error
        Chef::Log.error("Yaml syntax verify failed with : #{error.message}")
        false
      end

      # A command, a kind of verification with its colon, or a command and how it is run.
      def self.told(one)
        case one
        when Symbol then one.inspect
        when Array then Values.json(one.last.to_h.merge(command: one.first.to_s))
        else Values.json(one)
        end
      end
    end

    module Standing
      WRUN_MODES = { true => "ignore", :quiet => "ignore-quietly", "quiet" => "ignore-quietly" }.freeze

      # What amends which of the host's words, where it is no property of the type.
      WRUN_COMMON = %i[name retries retry_delay sensitive compile_time umask ignore_failure].freeze

      attr_reader :wrun_id

      # Puts the resource into its context; detached: into no collection, only `run_action` runs it.
      def wrun_declare(detached: false)
        rest = Values::Tail.new
        text = wrun_declaration(rest)
        text << ",\"detached\":true" if detached
        @wrun_id = rest.call("resources.declare", text << "}")
        # A declaration without actions stands for the default one.
        wrun_amend(actions: []) if Array(@action).empty?
        @wrun_delayed&.each { |action| wrun_amend(delayed: action) }
        Resources.keep(self)
        @wrun_id
      end

      # Is the host's resource of that number.
      def wrun_stand_for(id)
        @wrun_id = id
      end

      # A copy stands nowhere.
      def wrun_forget
        @wrun_id = nil
        remove_instance_variable(:@wrun_id)
        @wrun_notifications = nil
        @wrun_receivers = nil
        @not_if = @not_if.dup
        @only_if = @only_if.dup
      end

      def wrun_amend(amendment) = Bridge.call("resources.amend", @wrun_id, amendment)

      # A property was set after the resource was declared.
      def wrun_changed(property, value)
        name = property.name
        case name
        when :retries, :retry_delay then wrun_amend(retries: [retries, retry_delay])
        when :sensitive then wrun_amend(sensitive: !!sensitive)
        when :ignore_failure then wrun_amend("on-failure": WRUN_MODES.fetch(ignore_failure, "raise"))
        when *WRUN_COMMON then nil
        else wrun_change_own(property, value) unless wrun_guest?
        end
      end

      # A property was taken back.
      def wrun_cleared(property)
        wrun_amend(clear: property.name.name) if @wrun_id && !WRUN_COMMON.include?(property.name) && !wrun_guest?
      end

      def wrun_run_action(action)
        wrun_declare(detached: true) unless @wrun_id
        Resources.errand("run-action", @wrun_id, action.name)
      end

      def wrun_mark(updated) = @wrun_id && Bridge.call("resources.mark", @wrun_id, !!updated)
      def wrun_status = @wrun_id && Bridge.call("resources.look", @wrun_id)

      # A property's value, if it is not to be asked for later.
      def wrun_known_value(name)
        slot = self.class.properties[name]&.instance_variable_name
        return if slot && instance_variable_get(slot).is_a?(Chef::DelayedEvaluator)

        send(name)
      end

      # Whether Ruby runs the actions, and not the host.
      def wrun_guest?
        return false if @wrun_for_host

        self.class.wrun_guest? || (!@provider.nil? && @provider.wrun_acts?)
      end

      # The same as a resource of the built-in type, for which the host acts: without guards and notifications, which have been
      # looked at by then.
      def wrun_for_host(context)
        copy = dup
        copy.run_context = context
        copy.wrun_be_for_host
        copy
      end

      def wrun_be_for_host
        @wrun_for_host = true
        @provider = @retries = @ignore_failure = @wrun_delayed = nil
        @compile_time = false
        @not_if = []
        @only_if = []
      end

      # Further properties for the host, for types whose content Ruby makes.
      def wrun_more_properties(_context) = []

      private

      def wrun_declaration(rest)
        context = (run_context || Chef.run_context).wrun_id
        guest = wrun_guest?
        Types.announce(self) if guest
        text = +"{\"context\":#{context},\"kind\":#{Text.name(wrun_kind(guest))},\"name\":#{Text.of(Values.json(name))}," \
                "\"origin\":#{wrun_origin},\"actions\":#{Text.names(Array(@action))}"
        text << ",\"properties\":[#{wrun_properties(context, rest).join(",")}]" unless guest
        guards = @only_if + @not_if
        text << ",\"guards\":[#{guards.map { |guard| Text.of(guard.wrun_guard(context)) }.join(",")}]" unless guards.empty?
        wishes = @wrun_notifications
        text << ",\"notifications\":[#{wishes.map { |wish| Text.notification(wish) }.join(",")}]" if wishes
        wrun_rarely_said(text)
      end

      # What most resources leave as it is.
      def wrun_rarely_said(text)
        text << ",\"retries\":#{Integer(retries)}" if @retries
        text << ",\"retry_delay\":#{Integer(retry_delay)}" if @retry_delay
        text << ",\"sensitive\":true" if @sensitive && sensitive
        text << ",\"on_failure\":#{Text.of(WRUN_MODES[ignore_failure])}" if @ignore_failure
        text << ",\"umask\":#{umask.is_a?(String) ? umask.oct : Integer(umask)}" if @umask
        text
      end

      # A built-in type is named as such where Ruby acts for another resource of that name.
      def wrun_kind(guest = wrun_guest?)
        kind = (@wrun_for_host && self.class.wrun_builtin&.to_s) || self.class.wrun_kind || resource_name.to_s
        guest || !Types.announced?(kind) ? kind : "builtin:#{kind}"
      end

      def wrun_origin
        file, line = Resources.place(@source_line, cookbook_name.to_s)
        "[#{Text.name(cookbook_name)},#{Text.name(recipe_name)},#{Text.name(file)},#{line}]"
      end

      # Texts of pairs: name, and kind and value.
      def wrun_properties(context, rest)
        names = self.class.wrun_host_properties
        said = (names.keys & instance_variables).map do |slot|
          name = names[slot]
          "[#{Text.name(name)},#{wrun_said(context, name, instance_variable_get(slot), rest)}]"
        end
        said.concat(wrun_lazy_name(context)) if @name.is_a?(Chef::DelayedEvaluator)
        said.concat(wrun_verifications(context).map { |pair| Text.of(pair) }) if @wrun_verify
        said.concat(wrun_more_properties(context).map { |pair| Text.of(pair) })
      end

      # The property that is the name where nobody sets it, where the name may be another by the time of the action.
      def wrun_lazy_name(context)
        property = self.class.properties.each_value.find(&:name_property?)
        return [] if property.nil? || property.set?(self) || !self.class.wrun_host_property?(property.name)

        ["[#{Text.name(property.name)},[\"lazy\",#{Turns.keep(context, wrun_lazy(property.name))}]]"]
      end

      # Commands that check new content, and blocks that do.
      def wrun_verifications(context)
        blocks, commands = @wrun_verify.map { |one| :yaml == one ? Verification::YAML : one }.partition { |one| one.is_a?(Proc) }
        said = blocks.map { |block| ["verify", ["verify", Turns.keep(context, block)]] }
        commands.empty? ? said : said << ["verify", ["plain", commands.map { |one| Verification.told(one) }]]
      end

      # One more value of a property whose calls add up, after the resource was declared.
      def wrun_collected(name)
        said = wrun_verifications((run_context || Chef.run_context).wrun_id).last
        wrun_amend(property: said) if name == :verify
      end

      def wrun_said(context, name, value, rest)
        return "[\"lazy\",#{Turns.keep(context, wrun_lazy(name))}]" if value.is_a?(Chef::DelayedEvaluator)

        rest.property(value)
      end

      # Asked by the host right before the action.
      def wrun_lazy(name) = -> { Values.evaluated(send(name)) }

      def wrun_change_own(property, value)
        return unless self.class.wrun_host_property?(property.name)

        rest = Values::Tail.new
        said = wrun_said((run_context || Chef.run_context).wrun_id, property.name, value, rest)
        rest.call("resources.amend", @wrun_id, "{\"property\":[#{Text.name(property.name)},#{said}]}")
      end
    end
  end
end
