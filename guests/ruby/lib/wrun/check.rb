# frozen_string_literal: true

# Reads from a cookbook's text, without evaluating it, what the cookbook needs. The phase `check` returns a list of facts for
# one file. From the facts of all files the host reports needs and problems (docs/cookbook-check.md).

require_relative "check/literals"
require_relative "check/platforms"
require_relative "check/facts"
require_relative "check/refusals"
require_relative "check/known"
require_relative "check/walk"
require_relative "check/defaults"
require_relative "check/declarations"
require_relative "check/references"
require_relative "check/code"
require_relative "check/attributes"
require_relative "check/templates"
require_relative "check/classes"
require_relative "check/shapes"
require_relative "check/requirements"
require_relative "check/data"

module Wrun
  module Check
    # The reader for each kind of file, by a pattern of its path.
    READERS = [
      [%r{\Ametadata\.(?:rb|json)\z}, ->(file) { Data.metadata(file) }],
      [%r{\Arecipes/.+\.rb\z|\Arecipe\.rb\z}, ->(file) { Walk.new(file, :recipe).read }],
      [%r{\Aattributes/.+\.rb\z|\Aattributes\.rb\z}, ->(file) { Walk.new(file, :attributes).read }],
      [%r{\Aresources/.+\.rb\z}, ->(file) { Walk.new(file, :resource_class).read }],
      [%r{\Aproviders/.+\.rb\z}, ->(file) { Walk.new(file, :provider_class).read }],
      [%r{\Alibraries/.+\.rb\z}, ->(file) { Walk.new(file, :code).read }],
      [%r{\Adefinitions/.+\.rb\z}, ->(file) { Walk.new(file, :code).read }],
      [%r{\Atemplates/.+\.erb\z}, ->(file) { Walk.new(file, :template).read }],
      [%r{\Arecipes?/.+\.ya?ml\z|\Arecipes/.+\.json\z}, ->(file) { Data.recipe(file) }]
    ].freeze

    # The maximum number of lines of an error message in a fact.
    MOST_LINES = 12

    # One file of a cookbook and the facts found in it.
    Source = Struct.new(:folder, :cookbook, :path, :text, :facts, :defaults) do
      def add(fact, line, **words) = facts.add(fact, line, **words)
    end

    class << self
      # Returns the facts of one file of a folder, or an empty list if the file is not code. `name` is the cookbook's name.
      # `defaults` has the known values of its attributes and properties.
      def file(folder, name, path, defaults)
        reader = READERS.find { |pattern, _| pattern.match?(path) }&.last or return []
        file = Source.new(folder, name, path, Sources.text(folder, path), Facts.new, defaults)
        read(file, reader)
        file.facts.to_a
      end

      private

      def read(file, reader)
        reader.call(file)
      rescue SyntaxError, SystemStackError, StandardError => error
        file.add(:error, line_of(error, file), class: error.class.name, message: shortened(Failures.text_of(error)))
      end

      # Cuts a long message. A syntax error often causes thousands of further messages.
      def shortened(message)
        lines = message.lines
        lines.size > MOST_LINES ? "#{lines.first(MOST_LINES).join}.." : message
      end

      # Returns the line of the exception in this file, or 0.
      def line_of(error, file)
        places = [error.message, *error.backtrace].filter_map { |place| place.to_s.match(/\A(.+?):(\d+)/)&.captures }
        own = places.find { |path, _| path == file.path || Sources.split(path) == [file.folder, file.path] }
        own ? own.last.to_i.clamp(1, [file.text.lines.size, 1].max) : 0
      end
    end
  end
end
