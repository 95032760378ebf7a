# frozen_string_literal: true

# Gives Ruby the machine's local time. In WebAssembly, Ruby's local time is UTC, so the host supplies the offsets of the real
# time zone.

module Wrun
  module Machine
    # The machine's time zone, in the form of a time zone object for Ruby's Time.
    class LocalZone
      # The number of seconds for which a cached offset is valid. Time zones change their offsets only at full quarters of an
      # hour.
      STEP = 900
      private_constant :STEP

      def initialize
        @known = {}
      end

      def utc_to_local(time) = time + offset(time.to_i)

      # Converts local time to UTC in two steps. It takes the offset at the same clock time in UTC as a first guess, and then
      # the offset at the guessed moment.
      def local_to_utc(time)
        guess = time.to_i - offset(time.to_i)
        time - offset(guess)
      end

      def abbr(time) = at(time.to_i)[1]
      def name = at(Time.native_now.to_i)[1]
      alias to_s name
      def dst?(_time) = false
      def offset(seconds) = at(seconds)[0]

      # Returns true if local time equals UTC at this moment.
      def utc?(seconds) = offset(seconds).zero?

      private

      def at(seconds)
        @known.clear if @known.size > 1_000
        @known[seconds / STEP] ||= Bridge.call("clock.zone", seconds)
      end
    end

    LOCAL = LocalZone.new
  end
end

class Time
  class << self
    alias native_now now
    alias native_at at
    alias native_new new
    alias native_local local

    def now(**options)
      time = native_now(**options)
      options.key?(:in) ? time : time.wrun_local
    end

    def at(*arguments, **options)
      time = native_at(*arguments, **options)
      options.key?(:in) || arguments.first.is_a?(Time) ? time : time.wrun_local
    end

    # Parts without a time zone mean local time.
    def new(*arguments, **options)
      return native_new(*arguments, **options) if options.key?(:in) || arguments.size > 6 || arguments.first.is_a?(String)
      return now if arguments.empty?

      time = native_new(*arguments)
      Wrun::Machine::LOCAL.utc?(time.to_i) ? time : native_new(*arguments, in: Wrun::Machine::LOCAL)
    end

    def local(*arguments)
      time = native_local(*arguments)
      return time if Wrun::Machine::LOCAL.utc?(time.to_i)

      native_new(time.year, time.month, time.day, time.hour, time.min, time.sec + time.subsec, in: Wrun::Machine::LOCAL)
    end

    alias mktime local
  end

  alias native_localtime localtime
  alias native_getlocal getlocal

  def localtime(zone = nil)
    return native_localtime(zone) if zone

    Wrun::Machine::LOCAL.utc?(to_i) ? native_localtime : native_localtime(Wrun::Machine::LOCAL)
  end

  alias native_zone zone

  def zone
    zone = native_zone
    zone.is_a?(Wrun::Machine::LocalZone) ? zone.abbr(self) : zone
  end

  def getlocal(zone = nil) = zone ? native_getlocal(zone) : dup.localtime
  def wrun_local = Wrun::Machine::LOCAL.utc?(to_i) ? self : native_localtime(Wrun::Machine::LOCAL)
end
