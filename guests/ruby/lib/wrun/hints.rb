# frozen_string_literal: true

# Gives hints for exceptions: a name that the author may have meant, or the expression that was nil. A hint is kept apart from the
# message, because cookbooks compare messages. The rule for near names is the same as in the host (`host/text/src/near.rs`), so
# that both give the same hint.

module Wrun
  module Hints
    # The number of characters that are compared, because the cost grows with the square of the length.
    COMPARED = 64

    # Matches names that hints leave out: the library's own names, and names with `=`, `?`, `!` or other signs.
    UNSAID = /\Awrun_|[=?!]\z|\W/

    @sources = []

    class << self
      # Registers a source of names for receivers of a type. The block returns the names that a receiver knows, or nil.
      def on(type, &names) = @sources.unshift([type, names])

      # Gives an exception its hint.
      def attach(error, hint)
        error.instance_variable_set(:@wrun_hint, hint) if hint && !error.frozen?
        error
      end

      # Attaches the nearest candidate as the hint, if one is near enough.
      def suggest(error, name, candidates)
        near = nearest(name.to_s, candidates)
        attach(error, near && "did you mean `#{near}`?")
      end

      # The hint of an exception, or nil.
      def of(error)
        given = error.instance_variable_get(:@wrun_hint)
        return given if given

        # For a template's error, the hint concerns the exception that the template's code raised.
        error = error.original_exception if error.is_a?(Chef::Mixin::Template::TemplateError)
        return Receivers.of_line(error) if error.is_a?(TypeError) && error.message.match?(/\bnil\b/)
        return unless error.is_a?(NameError) && error.name
        return Receivers.hint(error) if error.is_a?(NoMethodError) && error.receiver.nil?

        near = near(error.receiver, error.name)
        near && "did you mean `#{near}`?"
      rescue StandardError
        # The exception has no receiver, or its receiver raises an error when Ruby asks for names.
        nil
      end

      # Returns the candidate nearest to a name, if at most a third of its characters differ. Of a name with one or two
      # characters, fewer than half may differ. Of equally near ones, returns the alphabetically first.
      def nearest(name, candidates)
        most = (name.length / 3).clamp(1, 4)
        near = candidates.map(&:to_s).uniq.filter_map do |candidate|
          next if (candidate.length - name.length).abs > most

          far = distance(name[0, COMPARED], candidate[0, COMPARED])
          [far, candidate] if far <= most && (far.zero? || far * 2 < [name.length, candidate.length].max)
        end
        near.min&.last
      end

      # Returns true if two names differ only by a typing error: in one place, by at most two characters that are not digits.
      # The host has the same rule (`host/author/src/check/typos.rs`).
      def slip?(one, other)
        return false if one.length <= 3

        before = one.chars.zip(other.chars).take_while { |left, right| left == right }.size
        after = one.reverse.chars.zip(other.reverse.chars).take_while { |left, right| left == right }.size
        differing = [one, other].map { |name| name[before...[name.length - after, before].max] }
        differing.all? { |part| part.length <= 2 && !part.match?(/\d/) }
      end

      # Returns the nearest name of a resource type. Authors often write only the file's name for a cookbook's own type. So
      # `site_vhost` is near to `vhost` and to `vhots`.
      def nearest_type(name, types)
        types = types.map(&:to_s)
        nearest(name, types) || types.select { |type| type.end_with?("_#{name}") }.min || by_file(name, types)
      end

      private

      def by_file(name, types)
        files = types.group_by { |type| type.split("_", 2)[1] }
        files.delete(nil)
        file = nearest(name, files.keys)
        files[file]&.min
      end

      def near(receiver, name)
        names = @sources.find { |type, _| type === receiver }&.last
        known = names ? names.call(receiver, name) : others(receiver, name)
        return known if known.is_a?(String)
        return nearest_type(name.to_s, known.grep_v(UNSAID) - [name]) if Chef::DSL::Recipe === receiver

        nearest(name.to_s, known.grep_v(UNSAID) - [name]) if known
      end

      # Returns the names that any other object knows: constants for a capitalized name, public methods otherwise.
      def others(receiver, name)
        return receiver.is_a?(Module) ? receiver.constants : Object.constants if name.match?(/\A[A-Z]/)

        (class << receiver; self; end).public_instance_methods - Object.instance_methods
      end

      # Returns the edit distance: the number of characters to insert, remove, replace or swap with a neighbour.
      def distance(left, right)
        before = []
        above = (0..right.length).to_a
        left.each_char.with_index do |letter, row|
          line = [row + 1]
          right.each_char.with_index do |other, column|
            best = [above[column] + (letter == other ? 0 : 1), above[column + 1] + 1, line[column] + 1].min
            swapped = row.positive? && column.positive? && left[row - 1] == other && right[column - 1] == letter
            line << (swapped ? [best, before[column - 1] + 1].min : best)
          end
          before, above = above, line
        end
        above.last
      end
    end
  end
end
