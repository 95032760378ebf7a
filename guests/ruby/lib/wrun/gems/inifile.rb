# frozen_string_literal: true

# Implements IniFile of the gem inifile: reads and writes INI files with sections and parameters.

class IniFile
  include Enumerable

  class Error < StandardError; end

  ESCAPES = { "\\0" => "\0", "\\t" => "\t", "\\n" => "\n", "\\r" => "\r", "\\\\" => "\\" }.freeze
  private_constant :ESCAPES

  attr_accessor :filename, :encoding

  # Reads a file, or returns nil if it does not exist.
  def self.load(filename, options = {})
    new(**options, filename: filename) if File.file?(filename)
  end

  def initialize(content: nil, filename: nil, comment: ";#", parameter: "=", separator: " = ", encoding: nil, escape: true,
                 default: "global", **_options)
    @comment = comment
    @parameter = parameter
    @separator = separator
    @filename = filename
    @encoding = encoding
    @escape = escape
    @default = default
    @sections = Hash.new { |all, name| all[name.to_s] = {} }
    content ? take(content) : (read if filename)
  end

  def read(filename: @filename, encoding: @encoding, **)
    return unless File.file?(filename.to_s)

    take(encoding ? File.read(filename, encoding: encoding) : File.read(filename))
    self
  end

  alias restore read

  def write(filename: @filename, **)
    File.write(filename, to_s)
    self
  end

  alias save write

  def to_s
    lines = @sections.flat_map do |name, parameters|
      ["[#{name}]", *parameters.map { |key, value| "#{key}#{@separator}#{escaped(value)}" }, ""]
    end
    lines.map { |line| "#{line}\n" }.join
  end

  def to_h = @sections.to_h
  def [](section) = section.nil? ? nil : @sections[section.to_s]

  def []=(section, parameters)
    @sections[section.to_s] = parameters
  end

  def each
    return to_enum unless block_given?

    @sections.each { |section, parameters| parameters.each { |key, value| yield section, key, value } }
    self
  end

  def each_section(&) = @sections.each_key(&).then { self }
  def sections = @sections.keys
  def has_section?(name) = @sections.key?(name.to_s)
  def delete_section(name) = @sections.delete(name.to_s)
  def match(pattern) = @sections.select { |name, _| name.match?(pattern) }
  def merge(other) = dup.merge!(other)

  def merge!(other)
    other = other.to_h unless other.is_a?(Hash)
    other.each { |name, parameters| @sections[name.to_s].merge!(parameters.transform_keys(&:to_s)) }
    self
  end

  def eql?(other) = other.is_a?(IniFile) && to_h == other.to_h
  alias == eql?

  def initialize_copy(other)
    super
    @sections = Hash.new { |all, name| all[name.to_s] = {} }
    other.to_h.each { |name, parameters| @sections[name] = parameters.dup }
  end

  private

  def take(content)
    case content
    when Hash then merge!(content)
    when IniFile then merge!(content.to_h)
    else parse(content.to_s)
    end
  end

  def parse(text)
    section = nil
    lines = text.gsub(/\\\r?\n/, "").each_line(chomp: true)
    lines.each do |line|
      line = without_comment(line).strip
      next if line.empty?

      if (found = line.match(/\A\[\s*(.*?)\s*\]\z/)) then section = @sections[found[1]]
      else
        key, value = line.split(@parameter, 2)
        raise Error, "Could not parse line: #{line.inspect}" if value.nil?

        (section || @sections[@default])[key.strip] = cast(value.strip)
      end
    end
  end

  # Removes the comment of a line. A comment sign inside quotes or after a backslash is part of the value.
  def without_comment(line)
    line.sub(/\A((?:"(?:\\.|[^"\\])*"|\\.|[^#{Regexp.escape(@comment)}"])*)[#{Regexp.escape(@comment)}].*\z/) { $1 }
  end

  def cast(text)
    case text
    when /\Atrue\z/i then true
    when /\Afalse\z/i then false
    when "" then nil
    when /\A"(.*)"\z/m then unescaped($1)
    when /\A[-+]?\d+\z/ then text.to_i
    when /\A[-+]?\d+\.\d+(?:e[-+]?\d+)?\z/i then text.to_f
    else unescaped(text)
    end
  end

  def unescaped(text) = @escape ? text.gsub(/\\[0tnr\\]/, ESCAPES) : text
  def escaped(value) = @escape ? value.to_s.gsub(/[\\\0\t\n\r]/, ESCAPES.invert) : value.to_s
end
