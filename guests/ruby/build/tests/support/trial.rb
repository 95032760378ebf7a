# frozen_string_literal: true

# The library of the tests' runtime, with a minimal DSL, so that a failed test points to the runtime. A recipe may `declare`
# resources and `define` types with a block as their action.

require "wrun/turns"

module Wrun
  module Trial
    ACTIONS = {}
    KINDS = {}
    CONTEXTS = [0]

    # The `self` of recipes and actions.
    class Script
      # Declares a resource and, in an action, has it converge at once. A block is the resource's lazy content.
      def declare(kind, name, guard: nil, ignore: false, **properties, &content)
        context = CONTEXTS.last
        properties = properties.map { |key, value| [key, ["plain", value]] }
        properties << ["content", ["lazy", Turns.keep(context, content)]] if content
        guards = guard ? [[false, Turns.keep(context, guard)]] : []
        id = Bridge.call("resources.declare", {
          context: context, kind: kind, name: name, origin: ["app", "default", "recipes/default.rb", 1],
          actions: ACTIONS.key?(kind) ? ["run"] : [], properties: properties, guards: guards, on_failure: ignore ? "ignore" : "raise"
        })
        KINDS[id] = kind
        Turns.converse("settle", id) unless context.zero?
        id
      end

      # Makes a type whose only action is the block.
      def define(kind, &action)
        ACTIONS[kind] = action
        Bridge.call("resources.define", name: kind, unified_mode: true, inspects: false, bypassed_in_why_run: false)
      end

      def log(text) = Bridge.call("output.log", "info", text.to_s)
    end
  end

  Turns.on("run") do |phase, input|
    case phase
    when "compile"
      text = Bridge.call("cookbooks.read", "app", "recipes/default.rb").force_encoding(Encoding::UTF_8)
      Trial::Script.new.instance_eval(text, "app/recipes/default.rb", 1)
    when "metadata" then Turns::Value.new({ "name" => input["cookbook"] })
    end
  end

  Turns.on("act") do |id, _action, context, _why_run|
    Trial::CONTEXTS.push(context)
    Trial::Script.new.instance_exec(&Trial::ACTIONS.fetch(Trial::KINDS[id]))
  ensure
    Trial::CONTEXTS.pop
  end
end
