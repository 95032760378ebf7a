# frozen_string_literal: true

# Passes exceptions to the host and back. A Ruby exception that comes back from the host is the same object, so that `rescue => e`
# gets the original. For an exception of the host, Ruby makes a new object of the named class.

require_relative "hints"
require_relative "receivers"

module Wrun
  # An exception of a class that this Ruby does not have.
  class Foreign < StandardError
    attr_reader :class_name

    def initialize(class_name, message)
      @class_name = class_name
      super(message)
    end
  end

  module Failures
    # The number of exceptions that Ruby keeps. An older exception comes back from the host as a copy.
    KEPT = 1_000

    # Matches files of the runtime, which backtraces leave out.
    OURS = %r{\A(?:/wrun/|/usr/local/lib/ruby/|<internal:|-e:|eval:)}

    # The data of an exception: its number, the resources that it has passed through, and the host's hint.
    Known = Struct.new(:number, :passed, :hint)

    @objects = {}
    @known = {}.compare_by_identity
    @last = -1

    class << self
      # True if backtraces also show the frames of this library.
      attr_accessor :all_frames

      # Returns an exception as a `raised` record of the contract.
      def describe(error)
        known = @known[error] || keep(error)
        {
          class: error.is_a?(Foreign) ? error.class_name : error.class.name || "RuntimeError",
          message: [text_of(error), missing(error)].compact.join(": "),
          passed: known.passed,
          backtrace: frames(error),
          object: known.number,
          hint: Hints.of(error) || known.hint,
        }
      end

      # Returns the Ruby exception for a `raised` record of the contract.
      def rebuild(raised)
        error = @objects[raised["object"]] || build(raised)
        known = @known[error] || keep(error)
        known.passed = raised["passed"]
        known.hint = raised["hint"]
        error
      end

      # Frames of cookbooks, innermost first, as `FILE:LINE: in NAME`.
      def frames(error)
        frames = error.backtrace || []
        cookbooks = frames.reject { |frame| frame.match?(OURS) }
        cookbooks = frames if all_frames
        cookbooks = [first_of_syntax_error(error), *cookbooks].compact if error.is_a?(SyntaxError)
        cookbooks.map { |frame| placed(frame.sub(/:in [`'](.*)'\z/) { named($1) }.scrub) }
      end

      # Returns an exception's message, even if the `message` method of its class raises.
      def text_of(error)
        error.message.to_s.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
      rescue StandardError => second
        "#{error.class} (its message raised #{second.class})"
      end

      private

      # Returns the text about the missing object, which Chef's server puts only into the body of its response. `describe` adds it
      # for reports; the exception's own message stays as cookbooks expect it.
      def missing(error)
        return unless defined?(Net::HTTPExceptions) && error.is_a?(Net::HTTPExceptions)

        error.response.missing if error.response.respond_to?(:missing)
      end

      # Removes from a frame's name the runtime's method that evaluates cookbook files.
      def named(name)
        own = all_frames ? name : name.sub(/(?:\A| in )Chef::Mixin::FromFile#from_file\z/, "")
        own.empty? ? "" : ": in #{own}"
      end

      # Returns the cookbook and the file of a path. Returns nil while the library is being loaded.
      def split(path) = Wrun.const_defined?(:Sources) ? Sources.split(path) : nil

      # Replaces the folder of a cookbook's file with the cookbook's name.
      def placed(frame)
        path, rest = frame.match(/\A(.+?)(:\d+(?::.*)?)\z/m)&.captures
        cookbook, file = path && split(path)
        cookbook ? "#{cookbook}/#{file}#{rest}" : frame
      end

      # Returns the place at the beginning of a syntax error's message. A file that Ruby cannot parse has no frame of its own.
      def first_of_syntax_error(error)
        error.message[/\A.+?:\d+(?=:)/]&.then { |place| split(place.sub(/:\d+\z/, "")) ? place : nil }
      end

      def keep(error)
        @last += 1
        @objects[@last] = error
        @known.delete(@objects.delete(@last - KEPT)) if @last >= KEPT
        @known[error] = Known.new(@last, [], nil)
      end

      def build(raised)
        message = raised["message"]
        type = class_named(raised["class"])
        return Foreign.new(raised["class"], message) unless type

        # The `initialize` method of a class may require other arguments than a message, so Ruby does not call it.
        error = type.allocate
        Exception.instance_method(:initialize).bind_call(error, message)
        error.set_backtrace(raised["backtrace"]) unless raised["backtrace"].empty?
        error
      end

      def class_named(name)
        return unless name.match?(/\A[A-Z]\w*(?:::[A-Z]\w*)*\z/)

        type = name.split("::").inject(Object) { |scope, part| scope.const_defined?(part) ? scope.const_get(part) : (return) }
        type if type.is_a?(Class) && type <= Exception
      end
    end
  end
end
