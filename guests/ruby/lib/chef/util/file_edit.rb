# frozen_string_literal: true

# Implements `Chef::Util::FileEdit`: edits lines of a file on the machine. `write_file` writes the changes.

require "fileutils"

class Chef
  class Util
    # Edits lines in memory. Each edit returns the number of changed lines.
    class Editor
      attr_reader :lines

      def initialize(lines)
        @lines = lines.to_a.dup
      end

      def append_line_after(search, addition)
        before = @lines.size
        @lines = @lines.flat_map { |line| line.match(search) ? [line, addition] : [line] }
        @lines.size - before
      end

      def append_line_if_missing(search, addition)
        return 0 if @lines.any? { |line| line.match(search) }

        @lines << addition
        1
      end

      def remove_lines(search)
        before = @lines.size
        @lines = @lines.reject { |line| line.match(search) }
        before - @lines.size
      end

      def replace(search, replacement) = change(search) { |line| line.gsub(search, replacement) }
      def replace_lines(search, replacement) = change(search) { replacement }

      private

      def change(search)
        count = 0
        @lines = @lines.map do |line|
          next line unless line.match(search)

          count += 1
          yield line
        end
        count
      end
    end

    class FileEdit
      def initialize(path)
        raise ArgumentError, "File '#{path}' does not exist" unless File.exist?(path)

        @path = path
        @editor = Editor.new(File.open(path, &:readlines))
        @edited = false
        @changes = false
      end

      def file_edited? = @edited
      def unwritten_changes? = @changes
      def search_file_replace_line(search, line) = note(@editor.replace_lines(search, line))
      def search_file_replace(search, replacement) = note(@editor.replace(search, replacement))
      def search_file_delete_line(search) = note(@editor.remove_lines(search))
      def search_file_delete(search) = search_file_replace(search, "")
      def insert_line_after_match(search, line) = note(@editor.append_line_after(search, line))
      def insert_line_if_no_match(search, line) = note(@editor.append_line_if_missing(search, line))

      # Writes the changes and keeps the old file as `PATH.old`.
      def write_file
        if @changes
          FileUtils.cp(@path, "#{@path}.old", preserve: true)
          File.open(@path, "w") { |file| @editor.lines.each { |line| file.puts(line) } }
          @edited = true
        end
        @changes = false
      end

      private

      def note(count) = @changes = count.positive? || @changes
    end

    # Implements Chef's helpers for paths.
    module PathHelper
      class << self
        def join(*parts) = File.join(*parts.map(&:to_s))
        def cleanpath(path, **) = Pathname.new(path).cleanpath.to_s
        def canonical_path(path, *) = File.expand_path(path)
        def escape_glob_dir(*parts) = join(*parts).gsub(/[\\{}\[\]*?]/) { |sign| "\\#{sign}" }
        def escape_glob(*parts) = escape_glob_dir(*parts)
        def dirname(path) = File.dirname(path)
        def absolute?(path) = path.start_with?("/")
        def path_separator(**) = "/"
        def validate_path(path, **) = path
        def printable?(text) = !text.match?(/[^[:print:]]/)
        def escapepath(path) = path.gsub("\\") { "\\\\" }
        def relative_path_from(from, to, **) = Pathname.new(cleanpath(to)).relative_path_from(Pathname.new(cleanpath(from)))

        # Splits a command line into words. Quoted parts stay together and keep their quotes.
        def split_args(line)
          word = +""
          line.scan(/\s*(?>([^\s\\"]+|"([^"]*)"|'([^']*)')|(\S))(\s|\z)?/m).each_with_object([]) do |(part, _, _, sign, ending), words|
            word << (part || sign.gsub(/\\(.)/, '\1'))
            next unless ending

            words << word
            word = +""
          end
        end

        def paths_eql?(one, other) = cleanpath(one) == cleanpath(other)
        def home(*parts) = ENV["HOME"] && join(ENV["HOME"], *parts)
      end
    end
  end
end

# The library of Chef's configuration, under its own name.
module ChefConfig
  PathHelper = Chef::Util::PathHelper
  Config = Chef::Config
end
