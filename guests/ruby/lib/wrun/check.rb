# frozen_string_literal: true

# What a cookbook asks for, read from its text without evaluating it: the phase `check` answers for one file with a list of
# facts, from which the host says what the cookbook needs and what would not work (docs/cookbook-check.md).

require_relative "check/literals"
require_relative "check/platforms"
require_relative "check/facts"
require_relative "check/known"
require_relative "check/walk"
require_relative "check/defaults"
require_relative "check/declarations"
require_relative "check/code"
require_relative "check/classes"
require_relative "check/shapes"
require_relative "check/data"

module Wrun
  module Check
    # What a file of a folder is read as.
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

    # The most lines of an error that are told.
    MOST_LINES = 12

    # One file of a cookbook, and what was found in it.
    Source = Struct.new(:folder, :cookbook, :path, :text, :facts, :defaults) do
      def add(fact, line, **words) = facts.add(fact, line, **words)
    end

    class << self
      # The facts of one file of a folder; none of a file that is not code. `name` is what the cookbook is called, `defaults`
      # what its attributes and properties stand for.
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

      # Each mistake in a file makes others, of which nobody wants to read thousands.
      def shortened(message)
        lines = message.lines
        lines.size > MOST_LINES ? "#{lines.first(MOST_LINES).join}.." : message
      end

      # An exception's line in the file itself.
      def line_of(error, file)
        places = [error.message, *error.backtrace].filter_map { |place| place.to_s.match(/\A(.+?):(\d+)/)&.captures }
        own = places.find { |path, _| path == file.path || Sources.split(path) == [file.folder, file.path] }
        own ? own.last.to_i.clamp(1, [file.text.lines.size, 1].max) : 0
      end
    end
  end
end
