# frozen_string_literal: true

# Formatters of Chef's output. wrun's output is the host's, so that no formatter is ever used: cookbooks may define their own.

class Chef
  module Formatters
    class UnknownFormatter < StandardError; end

    @by_name = {}

    class << self
      def formatters_by_name = @by_name
      def register(name, formatter) = @by_name[name.to_s] = formatter
      def by_name(name) = @by_name[name.to_s]
      def available_formatters = @by_name.keys

      def new(name, out, err)
        formatter = by_name(name) or raise UnknownFormatter, "No output formatter found for #{name} (available: #{available_formatters.join(", ")})"

        formatter.new(out, err)
      end
    end

    # The base class of formatters: a handler of events with a stream for its lines.
    class Base < EventDispatch::Base
      attr_reader :out, :err, :output

      def self.cli_name(name) = Formatters.register(name, self)

      def initialize(out, err)
        super()
        @out = out
        @err = err
        @output = out
      end

      def puts(...) = out.puts(...)
      def print(...) = out.print(...)
      def puts_line(text, *) = out.puts(text)
      def start_line(text, *) = out.print("\n#{text}")
      def indent_by(_amount) = nil
      def is_formatter? = true
    end

    class Doc < Base
      cli_name(:doc)
    end

    class Minimal < Base
      cli_name(:minimal)
      cli_name(:min)
    end

    class NullFormatter < Base
      cli_name(:null)
    end
  end
end
