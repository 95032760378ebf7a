# frozen_string_literal: true

# Reads a client.rb: every setting with its value and its line. Reading has no other effect. The host decides which settings
# apply to wrun.

class Chef
  class ClientSettings
    # A placeholder for a constant of a missing library, such as a handler's class. Its methods return the same placeholder.
    class Foreign < Module
      def self.named(name) = new.tap { |it| it.instance_variable_set(:@wrun_name, name) }

      def method_missing(*, **) = self # rubocop:disable Style/MissingRespondToMissing
      def inspect = @wrun_name
      def to_s = @wrun_name
      def name = @wrun_name
    end

    # A setting without a value. A client.rb may use it as a list or as a group of settings.
    class Group < BasicObject
      def initialize(settings, key)
        @settings = settings
        @key = key
      end

      def <<(value) = @settings.wrun_note(@key, value)
      def push(*values) = @settings.wrun_note(@key, values)
      alias concat push
      def [](key) = Group.new(@settings, "#{@key}.#{key}")
      def []=(key, value)
        @settings.wrun_note("#{@key}.#{key}", value)
      end
      def nil? = false
      def to_s = ""
      def to_str = ""
      def to_a = []
      def inspect = "#{@key} (not set)"
      def class = ::NilClass
      def is_a?(_) = false
      def respond_to?(*) = false

      def method_missing(name, *values)
        key = "#{@key}.#{name.to_s.delete_suffix("=")}"
        values.empty? ? Group.new(@settings, key) : @settings.wrun_note(key, values.size == 1 ? values.first : values)
      end
    end

    def self.read(file, source)
      new(file).tap { |it| it.wrun_evaluate(file, source) }.wrun_data
    end

    def initialize(file)
      @wrun_file = file
      @wrun_values = {}
      @wrun_said = []
      settings = self
      # This changes all modules of Ruby, which is safe because this instance evaluates nothing else.
      Module.define_method(:const_missing) do |name|
        Foreign.named(equal?(Object) || (is_a?(Class) && singleton_class?) ? name.to_s : "#{self}::#{name}")
      end
      Config.reset
      Config.singleton_class.define_method(:from_file) { |path, *| settings.wrun_file(path) }
    end

    # Evaluates a file. After an error, it keeps the settings that were read, and skips the rest of the file.
    def wrun_evaluate(file, source)
      instance_eval(source, file, 1)
    rescue SystemExit, StandardError, ScriptError => e
      line = e.is_a?(SyntaxError) ? e.message[/#{Regexp.escape(file)}:(\d+)/, 1] : wrun_own(e.backtrace_locations)&.lineno
      @wrun_stopped ||= { message: "#{e.class}: #{e.message.lines.first.to_s.strip.scrub}", file: file, line: line.to_i }
    end

    def from_file(path, *) = wrun_file(path)

    def wrun_file(path)
      path = File.expand_path(path, File.dirname(@wrun_file))
      outer = @wrun_file
      text = File.read(path)
      begin
        @wrun_file = path
        wrun_evaluate(path, text)
      ensure
        @wrun_file = outer
      end
    end

    def wrun_note(key, value)
      @wrun_said << { key: key.to_s, value: wrun_plain(value), file: @wrun_file, line: wrun_line }
      value
    end

    # Only notes the name, because libraries of handlers and plugins are absent and their code never runs.
    def require(name)
      @wrun_said << { key: "require", value: name.to_s, file: @wrun_file, line: wrun_line }
      true
    end
    alias load require
    alias require_relative require

    def [](key) = @wrun_values.fetch(key.to_sym) { Group.new(self, key) }

    def []=(key, value)
      @wrun_values[key.to_sym] = value
      wrun_note(key, value)
    end

    def method_missing(name, *values, &block)
      return self[name.to_s.delete_suffix("=")] = values.first if name.end_with?("=")
      return self[name] if values.empty? && block.nil?

      self[name] = values.size == 1 ? values.first : values
    end

    def respond_to_missing?(_, _ = false) = true
    def inspect = "the client's settings"
    def to_s = inspect

    def wrun_data
      others = Config.wrun_written.map { |key, value| { key: key.to_s, value: wrun_plain(value), file: @wrun_file, line: 0 } }
      { said: @wrun_said + others, stopped: @wrun_stopped }
    end

    private

    def wrun_plain(value)
      case value
      when Symbol, Pathname then Policyfile::Encoded.value(value.to_s)
      when IO then Policyfile::Encoded.value(value.inspect[/STD\w+/] || "IO")
      when Array then { "list" => value.map { |it| wrun_plain(it) } }
      when Regexp then Policyfile::Encoded.value(value.source)
      when Group then nil
      else Policyfile::Encoded.value(value)
      end
    end

    def wrun_own(frames) = frames&.find { |frame| frame.path == @wrun_file }

    # Returns the line that runs in the current file, or 0.
    def wrun_line
      Thread.each_caller_location { |frame| return frame.lineno if frame.path == @wrun_file }
      0
    end
  end
end
