# frozen_string_literal: true

# Prepares Ruby's memory once, at build time. The build freezes this memory, and every policy's instance starts from it.

require "set"
require "stringio"
require_relative "bridge"

module Wrun
  module Boot
    # The pseudo-cookbook from which a developer's runtime takes its library.
    LIBRARY = "wrun:library"

    class << self
      # Loads the library and prepares the server of turns. The build freezes Ruby's memory right after this call.
      def freeze_here
        densely { require "wrun/library" }
        settle { Turns.serve }
      end

      # Does the same as `freeze_here`, for development of the library: each instance loads the library anew, from a folder of
      # the developer's machine.
      def freeze_without_library
        settle do
          load_library
          Turns.serve
        rescue Exception => error # rubocop:disable Lint/RescueException
          refuse(error)
        end
      end

      private

      # The number of files to load between two garbage collections.
      FILES = 8
      private_constant :FILES

      # Runs the garbage collector often during the block, so that the loaded objects lie close together. Every instance maps
      # the frozen memory page by page. `system.rs` makes Ruby's own collector wait. Without these collections, garbage would
      # lie between the live objects, and each instance would touch more pages.
      def densely(&load)
        files = 0
        TracePoint.new(:script_compiled) { GC.start if ((files += 1) % FILES).zero? }.enable(&load)
      end

      def settle(&serve)
        $wrun = serve
        # The bridge collects lines. It can keep the order of both streams only if Ruby itself holds nothing back.
        $stdout.sync = true
        GC.start
        Process.warmup
      end

      # Answers every request with the error that occurred while the library was loaded.
      def refuse(error)
        raised = { class: error.class.name, message: error.message, backtrace: error.backtrace }
        told = Bridge.call("turns.next", "ready")
        told = Bridge.call("turns.next", "failed", told[1], raised) until told[0] == "done"
      end

      # Loads the library's files through the host, because this Ruby's memory does not contain them.
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
