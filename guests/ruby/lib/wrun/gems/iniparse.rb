# frozen_string_literal: true

# Implements IniParse of the gem iniparse, which is part of Chef: documents of sections with options. An option that occurs
# several times has several values.

module IniParse
  class ParseError < StandardError; end

  class << self
    def parse(text)
      document = Document.new
      section = nil
      text.each_line(chomp: true) do |line|
        case line.strip
        when "", /\A[#;]/ then next
        when /\A\[(.*)\]/ then section = document.section($1)
        when /\A([^=]*?)\s*=\s*(.*?)(?:\s+[#;].*)?\z/ then (section ||= document.section("__anonymous__")).add($1, cast($2))
        else raise ParseError, "A line of your INI document could not be parsed to a LineType: '#{line}'."
        end
      end
      document
    end

    def open(path)
      document = parse(File.file?(path) ? File.read(path) : "")
      document.path = path
      document
    end

    # Builds a document with the block.
    def gen
      document = Document.new
      yield Generator.new(document)
      document
    end

    private

    def cast(text)
      case text
      when "" then nil
      when /\A-?(?:0|[1-9]\d*)\z/ then text.to_i
      when /\A-?\d+\.\d+\z/ then text.to_f
      when /\Atrue\z/i then true
      when /\Afalse\z/i then false
      else text
      end
    end
  end

  class Document
    include Enumerable

    attr_accessor :path

    def initialize(path = nil)
      @path = path
      @sections = {}
    end

    def section(name) = @sections[name.to_s] ||= Section.new(name.to_s)
    def [](name) = @sections[name.to_s]
    def each(&) = @sections.each_value(&)
    def has_section?(name) = @sections.key?(name.to_s)
    def delete(name) = @sections.delete(name.to_s).then { self }
    def lines = self
    def to_h = @sections.transform_values(&:to_h)
    alias to_hash to_h
    def to_ini = @sections.values.map(&:to_ini).join("\n")
    alias to_s to_ini

    def save(path = @path)
      @path = path or raise ArgumentError, "You must supply a path when saving a document"
      File.write(path, "#{to_ini}\n")
    end
  end

  class Section
    include Enumerable

    attr_reader :key

    def initialize(key)
      @key = key
      @options = {}
    end

    def add(name, value) = (@options[name.to_s] ||= []) << value

    def [](name)
      values = @options[name.to_s]
      values && values.size < 2 ? values.first : values
    end

    def []=(name, value)
      @options[name.to_s] = Array(value)
    end

    def each
      @options.each { |name, values| values.each { |value| yield Option.new(name, value) } }
    end

    def has_option?(name) = @options.key?(name.to_s)
    def delete(name) = @options.delete(name.to_s).then { self }
    def merge!(other) = other.each { |option| add(option.key, option.value) }
    def to_h = @options.keys.to_h { |name| [name, self[name]] }
    def to_ini = ["[#{@key}]", *map { |option| "#{option.key} = #{option.value}" }].join("\n")
  end

  Option = Struct.new(:key, :value)

  # `doc.section("name") { |section| section.option("key", "value") }`.
  class Generator
    def initialize(document, section = nil)
      @document = document
      @section = section
    end

    def section(name)
      inner = Generator.new(@document, @document.section(name))
      yield inner if block_given?
    end

    def option(name, value) = (@section || @document.section("__anonymous__")).add(name, value)
    def method_missing(name, value = nil, &block) = block ? section(name.to_s, &block) : option(name.to_s, value)
    def respond_to_missing?(*) = true
  end
end
