# frozen_string_literal: true

# Implements TomlRB of the gem toml-rb: reads and writes TOML.

require "time"
require_relative "toml_reader"

module TomlRB
  class ParseError < StandardError; end
  class ValueOverwriteError < ParseError; end

  class << self
    def parse(text, symbolize_keys: false)
      read = Reader.new(text).table
      symbolize_keys ? symbolized(read) : read
    end

    alias load parse

    def load_file(path, symbolize_keys: false) = parse(File.read(path), symbolize_keys: symbolize_keys)
    def dump(table) = Writer.new(table).text

    private

    def symbolized(value)
      case value
      when Hash then value.to_h { |key, one| [key.to_sym, symbolized(one)] }
      when Array then value.map { |one| symbolized(one) }
      else value
      end
    end
  end

  # Writes a table: first plain values, then tables, then lists of tables, each sorted by name.
  class Writer
    attr_reader :text

    def initialize(table)
      @text = +""
      write(table, [])
    end

    private

    def write(table, path)
      plain, tables = table.sort_by { |key, _| key.to_s }.partition { |_, value| !table?(value) && !tables?(value) }
      plain.each { |key, value| @text << "#{name(key)} = #{value_text(value)}\n" }
      single, several = tables.partition { |_, value| table?(value) }
      single.each { |key, value| write_table(value, path + [key]) }
      several.each { |key, list| list.each { |value| write_one_of(value, path + [key]) } }
    end

    def write_table(table, path)
      # A table that contains only tables needs no heading of its own.
      heading = table.empty? || table.values.any? { |value| !table?(value) && !tables?(value) }
      @text << "[#{path.map { |key| name(key) }.join(".")}]\n" if heading
      write(table, path)
    end

    def write_one_of(table, path)
      @text << "[[#{path.map { |key| name(key) }.join(".")}]]\n"
      write(table, path)
    end

    def table?(value) = value.is_a?(Hash)
    def tables?(value) = value.is_a?(Array) && !value.empty? && value.all?(Hash)
    def name(key) = key.to_s.match?(/\A[A-Za-z0-9_-]+\z/) ? key.to_s : quoted(key.to_s)
    def quoted(text) = "\"#{text.gsub(/["\\]/) { |sign| "\\#{sign}" }.gsub("\n", "\\n").gsub("\t", "\\t").gsub("\r", "\\r")}\""

    def value_text(value)
      case value
      when Time then value.utc.iso8601
      when Array then "[#{value.map { |one| value_text(one) }.join(", ")}]"
      when Hash then "{ #{value.map { |key, one| "#{name(key)} = #{value_text(one)}" }.join(", ")} }"
      when Integer, Float, true, false then value.to_s
      else value.respond_to?(:iso8601) ? value.iso8601 : quoted(value.to_s)
      end
    end
  end
end
