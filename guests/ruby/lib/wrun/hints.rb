# frozen_string_literal: true

# What a person could do about an exception: a name that may have been meant, or the expression that was nil. It stands beside the message and is never in
# it, since cookbooks look at messages. The rule is the host's (`host/schema/src/suggest.rs`), so that both say the same.

module Wrun
  module Hints
    # Names longer than this are compared by their beginning only: the cost grows with the square.
    COMPARED = 64

    # What the library needs itself, and what says no more than the name without its last character.
    UNSAID = /\Awrun_|[=?!]\z|\W/

    @sources = []

    class << self
      # Says where names come from: the block gets a receiver and says which names are known to it, if it knows any.
      def on(type, &names) = @sources.unshift([type, names])

      # Gives an exception its hint.
      def attach(error, hint)
        error.instance_variable_set(:@wrun_hint, hint) if hint && !error.frozen?
        error
      end

      # As `attach`, where a name is near enough.
      def suggest(error, name, candidates)
        near = nearest(name.to_s, candidates)
        attach(error, near && "did you mean `#{near}`?")
      end

      # The hint of an exception, or nil.
      def of(error)
        given = error.instance_variable_get(:@wrun_hint)
        return given if given

        # A template's error is about what its code raised.
        error = error.original_exception if error.is_a?(Chef::Mixin::Template::TemplateError)
        return Receivers.of_line(error) if error.is_a?(TypeError) && error.message.match?(/\bnil\b/)
        return unless error.is_a?(NameError) && error.name
        return Receivers.hint(error) if error.is_a?(NoMethodError) && error.receiver.nil?

        near = near(error.receiver, error.name)
        near && "did you mean `#{near}`?"
      rescue StandardError
        # An exception without receiver, or one whose receiver will not be asked.
        nil
      end

      # The candidate nearest to a name, if at most a third of its characters differ; of equally near ones the first.
      def nearest(name, candidates)
        most = (name.length / 3).clamp(1, 4)
        near = candidates.map(&:to_s).uniq.filter_map do |candidate|
          next if (candidate.length - name.length).abs > most

          far = distance(name[0, COMPARED], candidate[0, COMPARED])
          [far, candidate] if far <= most
        end
        near.min&.last
      end

      # The same of names of resource types. A cookbook's own type is often called by its file alone: `site_vhost` is near to `vhost`, and to `vhots`.
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

      # Of any other object: constants of a module, else what it answers to in public.
      def others(receiver, name)
        return receiver.is_a?(Module) ? receiver.constants : Object.constants if name.match?(/\A[A-Z]/)

        (class << receiver; self; end).public_instance_methods - Object.instance_methods
      end

      # How many characters must be inserted, removed, replaced or swapped with their neighbour.
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
