# frozen_string_literal: true

# What is done once, before the runtime is frozen: every policy's instance begins with it.

require "set"
require "stringio"
require_relative "turns"

module Wrun
  module Boot
    # Called last, right before Ruby's memory is frozen.
    def self.freeze_here
      $wrun = -> { Turns.serve }
      GC.start
      Process.warmup
    end
  end

  # The sources of cookbooks, which travel in the policy's artifact.
  module Sources
    # A Ruby file's text and the name under which it is evaluated: `COOKBOOK/PATH`.
    def self.read(cookbook, path)
      text = Bridge.call("cookbooks.read", cookbook, path).force_encoding(Encoding::UTF_8)
      [text, "#{cookbook}/#{path}"]
    end
  end

  Turns.on("run") do |phase, input|
    if phase == "compile"
      cookbook, recipe = input.fetch("recipe").split("::", 2)
      text, name = Sources.read(cookbook, "recipes/#{recipe}.rb")
      Object.new.instance_eval(text, name, 1)
    end
  end
end
