# frozen_string_literal: true

# Warns of misspelt attributes and template variables whose nil becomes part of a text, such as `<%= node['mail']['greting'] %>`.
# As in Chef, the text has an empty place there, and nothing fails.

module Wrun
  module Misspelt
    # The maximum numbers of reads that are looked at, and of variables of one template.
    MOST_READS = 500
    MOST_VARIABLES = 50

    # Matches an expression that is put into a text, and that ends with a literal key: `#{node['a']['b']}`, `<%= mail['b'] %>`.
    PUT = /(?:\#\{|<%==?)\s*(@?\w+(?:\[[^\[\]]*\])*\[\s*(?:'([^']*)'|"([^"]*)"|:(\w+))\s*\])\s*(?:\}|[-=]?%>)/

    # Matches a variable that a template puts into its text.
    VARIABLE = /<%==?\s*@([a-z_]\w*)\s*[-=]?%>/

    # Variables that every template has.
    OF_EVERY_TEMPLATE = %w[
      cookbook_name recipe_name recipe_line_string recipe_path recipe_line template_name template_path template_finder node
      _extension_modules
    ].freeze

    @seen = {}

    class << self
      # Looks at a cookbook's read of an attribute without a value. `read` knows its path, its place and a near path.
      def attribute(read)
        return if @seen.size >= MOST_READS || @seen.key?(read)

        @seen[read] = true
        return unless put_into_text?(read)

        near = read.near
        warn(read.shown, near.shown, read.place) if near && Hints.slip?(read.path.last, near.path.last)
      end

      # Looks at a rendered template. `context` has its variables.
      def variables(text, context, path)
        put = text.scan(VARIABLE).flatten
        unset = put.uniq.reject { |name| context.instance_variable_defined?(:"@#{name}") }
        return if unset.empty?

        given = context.instance_variables.map { |name| name.name.delete_prefix("@") } - OF_EVERY_TEMPLATE
        unset.first(MOST_VARIABLES).each { |name| variable(text, name, given, path) if only_put?(text, name, put) }
      end

      private

      def variable(text, name, given, path)
        near = Hints.nearest(name, given)
        return unless near && Hints.slip?(name, near) && !@seen.key?([path, name])

        @seen[[path, name]] = true if @seen.size < MOST_READS
        line = text[0...text.index(/<%==?\s*@#{name}\b/)].count("\n") + 1
        warn("@#{name}", "@#{near}", [*(Sources.split(path) || path), line])
      end

      # Returns false if other code of the template uses the variable: it may expect nil.
      def only_put?(text, name, put) = text.scan(/@#{name}\b/).size == put.count(name)

      # Returns true if the line that reads puts exactly this attribute into a text.
      def put_into_text?(read)
        line = line(*read.place) or return false
        found = line.scan(PUT).map { |expression, *keys| [expression, keys.compact.first] }
        found = found.select { |_, key| key == read.path.last }.map(&:first)
        found.any? && found.all? { |expression| line.scan(expression).size == found.count(expression) }
      end

      # Returns a line of a cookbook's file. Keeps the lines of the file that it read last.
      def line(cookbook, file, number)
        unless @file == [cookbook, file]
          @file = [cookbook, file]
          @lines = Sources.file?(cookbook, file) ? Sources.text(cookbook, file).scrub.lines : []
        end
        @lines[number - 1]
      end

      def warn(name, near, place)
        *path, line = place
        Chef::Log.warn("`#{name}` has no value: did you mean `#{near}`? (#{path.join("/")}:#{line})")
      end
    end
  end
end
