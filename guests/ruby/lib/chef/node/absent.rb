# frozen_string_literal: true

# The attributes that cookbooks read last and that had no value. An error about nil is mostly about one of them: a misspelt
# key gives nil, and the error follows where the value is used.

require_relative "../../wrun/misspelt"

class Chef
  class Node
    module Absent
      # So many reads are remembered, and so many are told with an error.
      KEPT = 16
      TOLD = 3

      # Code of this library that reads attributes for a cookbook.
      OWN = %r{\A/wrun/chef/node(?:/|\.rb\z)}

      # The keys in an expression: `node['a'][:b]`.
      KEYS = /\[\s*(?:'([^']*)'|"([^"]*)"|:(\w+))\s*\]/

      # A path, and the place that read it: cookbook, file and line.
      Read = Struct.new(:path, :place) do
        def shown = "node#{path.map { |key| "['#{key}']" }.join}"

        # The path of a name that is there and nearly the same.
        def near
          kind, names = Wrun::Bridge.call("node.look", "merged", path[0...-1], nil)
          near = kind == "object" ? Wrun::Hints.nearest(path.last, names) : nil
          near && Read.new([*path[0...-1], near], place)
        end
      end

      @reads = []

      class << self
        # Remembers a read by a cookbook's code. Returns nil, as the read does.
        def note(path)
          place = reader or return
          read = Read.new(path.map(&:to_s), place)
          @reads.delete(read)
          @reads.push(read)
          @reads.shift if @reads.size > KEPT
          Wrun::Misspelt.attribute(read)
          nil
        end

        # What explains that an expression of a line was nil: where it reads an attribute that read, else those of the line, else
        # earlier ones that are nearly the name of another attribute. `expression` may be nil.
        def explain(expression, place)
          here = @reads.select { |read| read.place == place }
          own = here.select { |read| read.path == keys(expression) }
          here = own unless own.empty?
          told = (here.empty? ? @reads : here).map { |read| [read, read.near] }
          told = told.select { |_, near| near } if here.empty?
          told.last(TOLD).filter_map { |read, near| sentence(expression, place, read, near) }.join("; ")
        end

        private

        def sentence(expression, place, read, near)
          meant = near && "did you mean `#{near.shown}`?"
          return meant if keys(expression) == read.path

          at = " (#{read.place[0]}/#{read.place[1]}:#{read.place[2]})" unless read.place == place
          ["`#{read.shown}` has no value#{at}", meant].compact.join(": ")
        end

        def keys(expression)
          expression&.match?(/\Anode\s*\[/) ? expression.scan(KEYS).map { |found| found.compact.first } : nil
        end

        # The place in a cookbook that reads; nil where this library reads for itself.
        def reader
          Thread.each_caller_location do |frame|
            next if frame.path.match?(OWN)

            cookbook, file = Wrun::Sources.split(frame.path)
            return cookbook && [cookbook, file, frame.lineno]
          end
          nil
        end
      end
    end
  end
end
