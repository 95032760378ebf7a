# frozen_string_literal: true

# What is done once, before the runtime is frozen: every policy's instance begins with it.

require "set"
require "stringio"
require_relative "bridge"

module Wrun
  module Boot
    # The pseudo-cookbook from which a developer's runtime takes its library.
    LIBRARY = "wrun:library"

    class << self
      # Loads the library and ends with the moment at which Ruby's memory is frozen.
      def freeze_here
        densely { require "wrun/library" }
        settle { Turns.serve }
      end

      # As `freeze_here`, for those who work on the library: each instance loads it anew, from a folder of their machine.
      def freeze_without_library
        settle do
          load_library
          Turns.serve
        rescue Exception => error # rubocop:disable Lint/RescueException
          refuse(error)
        end
      end

      private

      # How many files are loaded between two collections.
      FILES = 8
      private_constant :FILES

      # The frozen memory is mapped page by page into every instance. Ruby's collector is told to wait (`system.rs`), so that
      # what loading leaves behind would stand between what stays, and each instance would touch more pages.
      def densely(&load)
        files = 0
        TracePoint.new(:script_compiled) { GC.start if ((files += 1) % FILES).zero? }.enable(&load)
      end

      def settle(&serve)
        $wrun = serve
        GC.start
        Process.warmup
      end

      # Answers everything with what went wrong while the library was loaded.
      def refuse(error)
        raised = { class: error.class.name, message: error.message, backtrace: error.backtrace }
        told = Bridge.call("turns.next", "ready")
        told = Bridge.call("turns.next", "failed", told[1], raised) until told[0] == "done"
      end

      # Loads the library, whose files are not in this Ruby's memory.
      def load_library
        sources = Bridge.call("cookbooks.paths", LIBRARY, "").to_h { |path| ["/wrun/#{path}", path] }
        loaded = {}
        find = lambda do |name, from|
          path = File.expand_path(name, from)
          ["#{path}.rb", path].find { |candidate| sources.key?(candidate) }
        end
        load_file = lambda do |path|
          return false if loaded[path] || $LOADED_FEATURES.include?(path)

          loaded[path] = true
          text = Bridge.call("cookbooks.read", LIBRARY, sources[path]).force_encoding(Encoding::UTF_8)
          RubyVM::InstructionSequence.compile(text, path, path, 1).eval
          true
        end
        take_over_require(find, load_file)
        require "wrun/library"
      end

      def take_over_require(find, load_file)
        Kernel.module_eval do
          original = instance_method(:require)
          define_method(:require) do |name|
            path = find.call(name.to_s, "/wrun")
            path ? load_file.call(path) : original.bind_call(self, name)
          end
          define_method(:require_relative) do |name|
            from = File.dirname(caller_locations(1, 1).first.absolute_path)
            path = find.call(name.to_s, from)
            path ? load_file.call(path) : original.bind_call(self, File.expand_path(name, from))
          end
          private :require, :require_relative
        end
      end
    end
  end
end
