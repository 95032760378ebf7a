# frozen_string_literal: true

# Reads a Policyfile: the arguments of its words, with their lines. The host checks them, because policy.toml has the same
# settings.

class Chef
  class Policyfile
    # A default source, the argument of `default_source`'s block.
    class Source
      attr_reader :preferred_cookbooks

      def initialize
        @preferred_cookbooks = []
      end

      def preferred_for(*cookbooks) = @preferred_cookbooks.concat(cookbooks.flatten)
    end

    # Attributes of one level. A read of a missing key creates an empty hash, and every write notes its line.
    class Attributes < ChefUtils::Mash
      def self.at(policyfile, path) = allocate.tap { |it| it.wrun_settle(policyfile, path) }

      def wrun_settle(policyfile, path)
        @policyfile = policyfile
        @path = path
      end

      def [](key)
        key = convert_key(key)
        regular_writer(key, Attributes.at(@policyfile, wrun_below(key))) unless key?(key)
        regular_reader(key)
      end

      def []=(key, value)
        key = convert_key(key)
        @policyfile.wrun_note(wrun_below(key))
        regular_writer(key, wrun_adopt(key, value))
      end
      alias store []=

      def update(*others, &block)
        others.each do |other|
          other.each_pair do |key, value|
            key = convert_key(key)
            value = block.call(key, regular_reader(key), value) if block && key?(key)
            self[key] = value
          end
        end
        self
      end
      alias merge! update

      private

      def wrun_below(key) = @path + [key.to_s]

      def wrun_adopt(key, value)
        case value
        when Attributes then value
        when Hash
          inner = Attributes.at(@policyfile, wrun_below(key))
          value.each { |inner_key, inner_value| inner.wrun_take(inner_key, inner_value) }
          inner
        else value
        end
      end

      protected

      # Does the same as `[]=` without noting a line. The line of the enclosing hash applies.
      def wrun_take(key, value)
        key = convert_key(key)
        regular_writer(key, wrun_adopt(key, value))
      end
    end

    # Encodes values as JSON. Values without a JSON form become an object with one key, such as `{"foreign": ..}`.
    module Encoded
      WHOLE = (-(2**63)...(2**64))

      class << self
        def value(value)
          case value
          when nil, true, false then value
          when Hash then { "map" => value.flat_map { |key, it| [key(key), value(it)] } }
          when Array then { "list" => value.map { |it| value(it) } }
          when Integer then WHOLE.cover?(value) ? value : { "integer" => value.to_s }
          when Float then value.finite? ? value : { "float" => value.to_s }
          when String then text(value)
          else foreign(value)
          end
        end

        # Returns a source's option as a plain value. If the host needs a text, it refuses other values.
        def option(value)
          case value
          when nil, true, false, Integer then value
          else value.to_s
          end
        end

        private

        def key(key) = key.is_a?(String) ? text(key) : foreign(key)

        def text(text)
          utf8 = text.encode(Encoding::UTF_8)
          utf8.valid_encoding? ? utf8 : foreign(text)
        rescue EncodingError
          foreign(text)
        end

        def foreign(value) = { "foreign" => [value.inspect.scrub, value.class.to_s] }
      end
    end

    def self.from_source(file, source)
      new(file).tap { |it| it.instance_eval(source, file, 1) }
    end

    def initialize(file)
      @wrun_file = file
      @wrun_said = { run_list: [], named: {}, sources: [], cookbooks: [], includes: [] }
      @wrun_lines = {}
      @wrun_levels = %w[default override].to_h { |level| [level, Attributes.at(self, [level])] }
    end

    def name(name = nil)
      @wrun_name = name.to_s unless name.nil?
      @wrun_name
    end

    def run_list(*items)
      items = items.flatten
      unless items.empty?
        @wrun_said[:run_list] = items
        @wrun_run_list_line = wrun_line
      end
      @wrun_said[:run_list]
    end

    def named_run_list(name, *items)
      items = items.flatten
      @wrun_said[:named][name] = [items, wrun_line] unless items.empty?
      @wrun_said[:named][name]&.first
    end

    def default_source(type = nil, argument = nil)
      return @wrun_said[:sources] if type.nil?

      source = Source.new
      yield source if block_given?
      @wrun_said[:sources] << {
        kind: type.inspect, argument: argument&.to_s, preferred: source.preferred_cookbooks.map(&:to_s), line: wrun_line
      }
    end

    def cookbook(name, *constraint_and_options)
      options = constraint_and_options.last.is_a?(Hash) ? constraint_and_options.pop : {}
      @wrun_said[:cookbooks] << {
        name: name.to_s, constraint: constraint_and_options.first&.to_s, options: wrun_options(options), line: wrun_line
      }
    end

    def include_policy(name, options = {})
      @wrun_said[:includes] << { name: name.to_s, options: wrun_options(options), line: wrun_line }
    end

    # Adds the cookbook that contains the Policyfile. The host knows its name.
    def metadata
      @wrun_said[:cookbooks] << { name: nil, constraint: nil, options: [["path", "."]], line: wrun_line }
    end

    def default = @wrun_levels["default"]
    def override = @wrun_levels["override"]
    def policyfile_filename = @wrun_file
    def inspect = "the Policyfile"
    def to_s = inspect

    def wrun_note(path)
      @wrun_lines[path] = wrun_line
    end

    def wrun_data
      named = @wrun_said[:named].map do |name, (items, line)|
        { name: name.to_s, symbol: name.is_a?(Symbol), items: items.map(&:to_s), line: line }
      end
      {
        name: @wrun_name, run_list: { items: @wrun_said[:run_list].map(&:to_s), line: @wrun_run_list_line.to_i },
        named_run_lists: named, default_sources: @wrun_said[:sources], cookbooks: @wrun_said[:cookbooks],
        includes: @wrun_said[:includes], default: Encoded.value(default), override: Encoded.value(override),
        lines: @wrun_lines.map { |(level, *path), line| { level: level, path: path, line: line } }
      }
    end

    private

    def wrun_options(options) = options.map { |key, value| [key.to_s, Encoded.option(value)] }

    # Returns the running line of the Policyfile, or 0.
    def wrun_line
      Thread.each_caller_location { |frame| return frame.lineno if frame.path == @wrun_file }
      0
    end
  end

  # Reads a Berksfile, which lists cookbooks with other words than a Policyfile.
  class Berksfile < Policyfile
    def source(place, **)
      place = { supermarket: place } if place.is_a?(String)
      kind, argument = place.is_a?(Hash) ? place.first : place
      default_source(kind, argument)
    end
    alias site source

    def group(*) = yield
    def metadata(**) = super()
    def solver(*, **) = nil
    alias extension solver
    alias chef_api solver
    def inspect = "the Berksfile"
  end
end
