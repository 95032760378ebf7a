# frozen_string_literal: true

# `breakpoint`: stops in Chef's shell, which wrun lacks, so it does nothing. Its name is its place in the source.

class Chef
  class Resource
    class Breakpoint
      def initialize(_name = "break", run_context = nil)
        place = caller_locations.find { |frame| Wrun::Sources.split(frame.path) }
        super(place ? "#{place.path}:#{place.lineno}" : "break", run_context)
      end

      action(:break) { nil }
    end
  end
end
