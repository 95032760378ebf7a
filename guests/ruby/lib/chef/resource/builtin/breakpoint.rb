# frozen_string_literal: true

# `breakpoint`: a place to stop at in Chef's shell, which wrun has not; elsewhere it does nothing. Its name is where it was
# written.

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
