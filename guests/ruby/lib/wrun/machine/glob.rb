# frozen_string_literal: true

# Implements Dir.glob with the host's directory listings. Ruby's own `File.fnmatch` matches the names.

module Wrun
  module Machine
    # Finds the paths for one pattern without braces.
    class Glob
      MAGIC = /[*?\[\\]/
      private_constant :MAGIC

      def initialize(pattern, flags, base)
        @flags = flags
        @base = base
        @root = pattern.start_with?("/") ? "/" : ""
        @parts = pattern.split("/").reject(&:empty?)
        # A slash at the end of the pattern selects only directories. The empty last part represents it.
        @parts << "" if pattern.end_with?("/") && @parts.any?
      end

      def paths
        found = []
        walk(@root, [@parts], found)
        found
      end

      private

      # `prefix` is the matched part of the path, empty or with a slash at its end. `patterns` are the possible rests of the
      # pattern, each a list of parts. Names come in order, and each directory's content follows right after its name.
      def walk(prefix, patterns, found)
        patterns = patterns.flat_map { |parts| here_too(parts) }.uniq
        found << prefix if patterns.include?([""]) && !prefix.empty?
        patterns.delete([""])
        return patterns.each { |parts| step_plain(prefix, parts, found) } if patterns.none? { |parts| parts.first.match?(MAGIC) }

        names(prefix).each { |name| step("#{prefix}#{name}", name, patterns, found) }
      end

      # Adds the pattern without `**`, because `**` also matches zero directories.
      def here_too(parts) = down?(parts) ? [parts, *here_too(parts.drop(1))] : [parts]
      def down?(parts) = parts.first == "**" && parts.size > 1

      def step_plain(prefix, parts, found)
        part, *rest = parts
        path = "#{prefix}#{part}"
        return (found << path if look(path, follow: false)) if rest.empty?
        return if rest == [""] && !directory?(path, follow: true)

        walk("#{path}/", [rest], found)
      end

      def step(path, name, patterns, found)
        down, others = patterns.partition { |parts| down?(parts) }
        further, ending = others.select { |parts| matches?(parts.first, name) }.map { |parts| parts.drop(1) }.partition(&:any?)
        found << path if ending.any?
        further += down if down.any? && may_go_down?(path, name)
        walk("#{path}/", further, found) if further.any? && directory?(path, follow: true)
      end

      # `**` enters neither links nor hidden directories.
      def may_go_down?(path, name)
        (@flags.anybits?(File::FNM_DOTMATCH) || !name.start_with?(".")) && directory?(path, follow: false)
      end

      def matches?(part, name) = File.fnmatch(part, name, @flags & ~File::FNM_PATHNAME)

      def names(prefix)
        Machine.names(full(prefix))
      rescue Errno::ENOENT, Errno::ENOTDIR
        []
      end

      def look(path, follow:)
        Machine.look(full(path), follow: follow)
      rescue Errno::ENOTDIR, Errno::ELOOP
        nil
      end

      def directory?(path, follow:)
        found = look(path, follow: follow)
        !found.nil? && found["kind"] == "directory"
      end

      def full(path)
        return @base if path.empty?

        path.start_with?("/") ? path : "#{@base.delete_suffix("/")}/#{path}"
      end
    end

    # Expands braces: `a{b,c}d` becomes `abd` and `acd`. It expands the outermost braces first.
    def self.braces(pattern)
      open, close, commas = outer_braces(pattern)
      return [pattern] unless close

      edges = [open, *commas, close]
      edges.each_cons(2).flat_map do |from, to|
        braces("#{pattern[0...open]}#{pattern[from + 1...to]}#{pattern[close + 1..]}")
      end
    end

    def self.outer_braces(pattern)
      open = nil
      depth = 0
      commas = []
      escaped = false
      pattern.each_char.with_index do |letter, at|
        next escaped = false if escaped

        case letter
        when "\\" then escaped = true
        when "{"
          open ||= at
          depth += 1
        when "," then commas << at if depth == 1
        when "}"
          next if depth.zero?

          depth -= 1
          return [open, at, commas] if depth.zero?
        end
      end
      nil
    end
    private_class_method :outer_braces
  end
end

class Dir
  class << self
    def glob(patterns, flags = 0, base: nil, sort: true, &block)
      base = base.nil? ? pwd : File.expand_path(base)
      found = Array(patterns).flat_map do |pattern|
        pattern = Wrun::Machine.path_text(pattern)
        Wrun::Machine.braces(pattern).flat_map { |one| Wrun::Machine::Glob.new(one, flags, base).paths }
      end
      block ? found.each(&block).then { nil } : found
    end

    def [](*patterns, base: nil, sort: true) = glob(patterns.flatten, base: base, sort: sort)
  end
end
