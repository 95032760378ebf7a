# frozen_string_literal: true

# Connects a Ruby resource with the host's resource. Ruby keeps the values from the cookbook and sends them to the host once, when
# it declares the resource. It sends later values as amendments.
#
# Methods and variables here begin with `wrun_`: anything else could be a cookbook's property.

require_relative "values"
require_relative "types"
require_relative "errand"

module Wrun
  module Resources
    # Describes the checks of new content (`verify`) for the host.
    module Verification
      # Ruby checks YAML, because the host cannot parse it.
      YAML = lambda do |path|
        Psych.parse_file(path)
        true
      rescue Psych::SyntaxError => error
        Chef::Log.error("Yaml syntax verify failed with : #{error.message}")
        false
      end

      # Returns a check in the form for the host: a command, a kind of verification such as `:json`, or a command with options.
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

      # Options of every resource. The host does not treat them as properties of a type.
      WRUN_COMMON = %i[name retries retry_delay sensitive compile_time umask ignore_failure].freeze

      attr_reader :wrun_id

      # Declares the resource to the host. A detached resource stays outside the collection, and only `run_action` runs it.
      def wrun_declare(detached: false)
        rest = Values::Tail.new
        text = wrun_declaration(rest)
        text << ",\"detached\":true" if detached
        @wrun_id = rest.call("resources.declare", text << "}")
        # In a declaration, an empty list of actions means the default action. The amendment makes the list really empty.
        wrun_amend(actions: []) if @action.nil? || [] == @action
        @wrun_delayed&.each { |action| wrun_amend(delayed: action) }
        Resources.keep(self)
        @wrun_id
      end

      # Links this object to the host's resource with that number.
      def wrun_stand_for(id)
        @wrun_id = id
      end

      # Removes the link to the host's resource, because a copy is not declared.
      def wrun_forget
        @wrun_id = nil
        remove_instance_variable(:@wrun_id)
        @wrun_notifications = nil
        @wrun_receivers = nil
        @not_if = @not_if.dup
        @only_if = @only_if.dup
      end

      def wrun_amend(amendment) = Bridge.call("resources.amend", @wrun_id, amendment)

      # Sends the new value of a property to the host after the declaration.
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

      # Clears the property in the host's resource after `reset_property`.
      def wrun_cleared(property)
        wrun_amend(clear: property.name.name) if @wrun_id && !WRUN_COMMON.include?(property.name) && !wrun_guest?
      end

      def wrun_run_action(action)
        wrun_declare(detached: true) unless @wrun_id
        Resources.errand("run-action", @wrun_id, action.name)
      end

      def wrun_mark(updated) = @wrun_id && Bridge.call("resources.mark", @wrun_id, !!updated)
      def wrun_status = @wrun_id && Bridge.call("resources.look", @wrun_id)

      # Returns a property's value, or nil if it is lazy.
      def wrun_known_value(name)
        slot = self.class.properties[name]&.instance_variable_name
        return if slot && instance_variable_get(slot).is_a?(Chef::DelayedEvaluator)

        send(name)
      end

      # Returns true if Ruby runs the actions instead of the host.
      def wrun_guest?
        return false if @wrun_for_host

        self.class.wrun_guest? || (!@provider.nil? && @provider.wrun_acts?)
      end

      # Returns a copy as a resource of the built-in type, which the host runs. The copy has no guards and notifications, because
      # the original handles them.
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

      # Returns further properties for the host. Types with content from Ruby override it.
      def wrun_more_properties(_context) = []

      private

      def wrun_declaration(rest)
        context = (run_context || Chef.run_context).wrun_id
        guest = wrun_guest?
        Types.announce(self) if guest
        text = +"{\"context\":#{context},\"kind\":#{Text.name(wrun_kind(guest))},\"name\":#{wrun_name_text}," \
                "\"origin\":#{wrun_origin},\"actions\":#{Text.names(Array(@action))}"
        text << ",\"properties\":[#{wrun_properties(context, rest)}]" unless guest
        unless @only_if.empty? && @not_if.empty?
          guards = (@only_if + @not_if).map { |guard| Text.of(guard.wrun_guard(context)) }
          text << ",\"guards\":[#{guards.join(",")}]"
        end
        wishes = @wrun_notifications
        text << ",\"notifications\":[#{wishes.map { |wish| Text.notification(wish) }.join(",")}]" if wishes
        wrun_rarely_said(text)
      end

      # Adds the options that most resources leave at their defaults.
      def wrun_rarely_said(text)
        text << ",\"retries\":#{Integer(retries)}" if @retries
        text << ",\"retry_delay\":#{Integer(retry_delay)}" if @retry_delay
        text << ",\"sensitive\":true" if @sensitive && sensitive
        text << ",\"on_failure\":#{Text.of(WRUN_MODES[ignore_failure])}" if @ignore_failure
        text << ",\"umask\":#{umask.is_a?(String) ? umask.oct : Integer(umask)}" if @umask
        text
      end

      # Returns the type's name. A built-in type gets the prefix `builtin:` if Ruby has announced another type of that name.
      def wrun_kind(guest = wrun_guest?)
        kind = (@wrun_for_host && self.class.wrun_builtin&.to_s) || self.class.wrun_kind || resource_name.to_s
        guest || !Types.announced?(kind) ? kind : "builtin:#{kind}"
      end

      # Returns the name as JSON text. A plain name is read without its property's method, as this happens for each resource.
      def wrun_name_text
        @name.instance_of?(String) && self.class.wrun_plain_name? ? Text.string(@name) : Text.of(Values.json(name))
      end

      def wrun_origin
        line = @source_line
        return "#{Resources.origin(cookbook_name, recipe_name, line.path)}#{line.lineno}]" if line.is_a?(Thread::Backtrace::Location)

        file, line = Resources.place(line, cookbook_name.to_s)
        "[#{Text.name(cookbook_name)},#{Text.name(recipe_name)},#{Text.name(file)},#{line}]"
      end

      # Returns the properties as JSON text, separated by commas. Each is a pair of the name and the value with its kind.
      def wrun_properties(context, rest)
        self.class.wrun_define_told
        said = wrun_told(context, rest)
        said.concat(wrun_lazy_name(context)) if @name.is_a?(Chef::DelayedEvaluator)
        said.concat(wrun_verifications(context).map { |pair| Text.of(pair) }) if @wrun_verify
        more = wrun_more_properties(context)
        said.concat(more.map { |pair| Text.of(pair) }) unless more.empty?
        said.join(",")
      end

      # Returns the name property as a lazy value, if the cookbook does not set it. Only resources with a lazy name need this.
      def wrun_lazy_name(context)
        property = self.class.properties.each_value.find(&:name_property?)
        return [] if property.nil? || property.set?(self) || !self.class.wrun_host_property?(property.name)

        ["[#{Text.name(property.name)},[\"lazy\",#{Turns.keep(context, wrun_lazy(property.name))}]]"]
      end

      # Returns the blocks and commands that check new content.
      def wrun_verifications(context)
        blocks, commands = @wrun_verify.map { |one| :yaml == one ? Verification::YAML : one }.partition { |one| one.is_a?(Proc) }
        said = blocks.map { |block| ["verify", ["verify", Turns.keep(context, block)]] }
        commands.empty? ? said : said << ["verify", ["plain", commands.map { |one| Verification.told(one) }]]
      end

      # Sends one more value to the host after the declaration, for a property that collects the values of all calls.
      def wrun_collected(name)
        said = wrun_verifications((run_context || Chef.run_context).wrun_id).last
        wrun_amend(property: said) if name == :verify
      end

      def wrun_said(context, name, value, rest)
        return rest.text(value) if value.instance_of?(String)
        return "[\"lazy\",#{Turns.keep(context, wrun_lazy(name))}]" if value.is_a?(Chef::DelayedEvaluator)

        rest.property(value)
      end

      # Returns the closure that the host calls right before the action.
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
