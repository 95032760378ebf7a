# frozen_string_literal: true

# Exceptions on their way through the host. An exception that Ruby code raised and that comes back to Ruby code is the
# very same object, so that `rescue => e` sees what was raised; one of the host's is made anew, by its class.

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
    # So many exceptions may be on their way at a time; older ones come back as copies.
    KEPT = 1_000

    # Files of which no cookbook's author wants to hear.
    OURS = %r{\A(?:/wrun/|/usr/local/lib/ruby/|<internal:|-e:|eval:)}

    # What is known of an exception: its number, the resources that it has passed through, and what the host said could be
    # done about it.
    Known = Struct.new(:number, :passed, :hint)

    @objects = {}
    @known = {}.compare_by_identity
    @last = -1

    class << self
      # Whether backtraces show the frames of this library too.
      attr_accessor :all_frames

      # An exception as the contract has it.
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

      # The exception that the contract speaks of.
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

      # An exception's message, whatever its class makes of it.
      def text_of(error)
        error.message.to_s.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
      rescue StandardError => second
        "#{error.class} (its message raised #{second.class})"
      end

      private

      # What Chef's server would have been asked for, of which only its answer's body speaks: not in the message, which
      # cookbooks look at, but where nobody rescued it.
      def missing(error)
        return unless defined?(Net::HTTPExceptions) && error.is_a?(Net::HTTPExceptions)

        error.response.missing if error.response.respond_to?(:missing)
      end

      # A cookbook's file is evaluated by a method of ours, of which nobody wants to hear.
      def named(name)
        own = all_frames ? name : name.sub(/(?:\A| in )Chef::Mixin::FromFile#from_file\z/, "")
        own.empty? ? "" : ": in #{own}"
      end

      # Cookbook and file of a path. While the library is being loaded, nobody knows yet.
      def split(path) = Wrun.const_defined?(:Sources) ? Sources.split(path) : nil

      # A cookbook's file is named by the cookbook, wherever its place is.
      def placed(frame)
        path, rest = frame.match(/\A(.+?)(:\d+(?::.*)?)\z/m)&.captures
        cookbook, file = path && split(path)
        cookbook ? "#{cookbook}/#{file}#{rest}" : frame
      end

      # What cannot be read has no frame of its own; its message begins with the place.
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

        # Classes may want other things than a message; what they would make of them is not known here.
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
