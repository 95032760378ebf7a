# frozen_string_literal: true

# Reads TOML (toml.io, version 1.0).

require "strscan"

module TomlRB
  class Reader
    ESCAPES = { "b" => "\b", "t" => "\t", "n" => "\n", "f" => "\f", "r" => "\r", '"' => '"', "\\" => "\\", "e" => "\e" }.freeze
    BLANK = /(?:[ \t]|\r?\n|#[^\n]*)*/
    private_constant :ESCAPES, :BLANK

    attr_reader :table

    def initialize(text)
      @scanner = StringScanner.new(text)
      @table = {}
      @current = @table
      read_entry until skip(BLANK) && @scanner.eos?
    end

    private

    def skip(pattern)
      @scanner.skip(pattern)
      true
    end

    def fail_here(what)
      line = @scanner.string.byteslice(0, @scanner.pos).count("\n") + 1
      raise ParseError, "#{what} in line #{line}"
    end

    def expect(pattern, what) = @scanner.scan(pattern) || fail_here("expected #{what}")

    def read_entry
      if @scanner.skip(/\[\[/) then @current = open_list(read_path.tap { expect(/[ \t]*\]\]/, "]]") })
      elsif @scanner.skip(/\[/) then @current = descend(@table, read_path.tap { expect(/[ \t]*\]/, "]") })
      else read_pair(@current)
      end
      expect(/[ \t]*(?:#[^\n]*)?(?:\r?\n|\z)/, "the line's end")
    end

    def read_pair(table)
      *path, key = read_path
      expect(/[ \t]*=[ \t]*/, "=")
      table = descend(table, path)
      raise ValueOverwriteError, "Key #{key.inspect} is defined more than once" if table.key?(key)

      table[key] = read_value
    end

    def read_path
      path = [read_key]
      path << read_key while @scanner.skip(/[ \t]*\.[ \t]*/)
      path
    end

    def read_key
      skip(/[ \t]*/)
      return read_string if @scanner.check(/["']/)

      expect(/[A-Za-z0-9_-]+/, "a key")
    end

    # Returns the table at a path. In a list of tables, it continues in the last table.
    def descend(table, path)
      path.inject(table) do |at, key|
        below = at[key] ||= {}
        below = below.last if below.is_a?(Array)
        below.is_a?(Hash) ? below : raise(ValueOverwriteError, "Key #{key.inspect} is defined more than once")
      end
    end

    def open_list(path)
      *above, key = path
      list = descend(@table, above)[key] ||= []
      list << {}
      list.last
    end

    def read_value
      case
      when @scanner.check(/["']/) then read_string
      when @scanner.skip(/\[/) then read_array
      when @scanner.skip(/\{/) then read_inline_table
      when (word = @scanner.scan(/(?:true|false)\b/)) then word == "true"
      when (word = @scanner.scan(/\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)?)?/)) then time(word)
      when (word = @scanner.scan(/\d\d:\d\d:\d\d(?:\.\d+)?/)) then word
      else read_number
      end
    end

    def time(word) = word.size > 10 ? Time.parse(word) : Time.utc(*word.split("-").map(&:to_i))

    def read_number
      word = expect(/[+-]?(?:inf|nan|0[xob][0-9a-fA-F_]+|[0-9_]+(?:\.[0-9_]+)?(?:[eE][+-]?[0-9_]+)?)/, "a value").delete("_")
      case word
      when /inf/ then word.start_with?("-") ? -Float::INFINITY : Float::INFINITY
      when /nan/ then Float::NAN
      when /\A[+-]?0[xob]/ then Integer(word)
      when /[.eE]/ then word.to_f
      else word.to_i
      end
    end

    def read_array
      list = []
      until skip(BLANK) && @scanner.skip(/\]/)
        list << read_value
        skip(BLANK)
        expect(/,|(?=\])/, "a comma")
      end
      list
    end

    def read_inline_table
      table = {}
      until skip(/[ \t]*/) && @scanner.skip(/\}/)
        read_pair(table)
        skip(/[ \t]*/)
        expect(/,|(?=\})/, "a comma")
      end
      table
    end

    def read_string
      if @scanner.skip(/"""\r?\n?/) then unescaped(upto(/"""/, long: true).gsub(/\\\s*\n\s*/, ""))
      elsif @scanner.skip(/'''\r?\n?/) then upto(/'''/)
      elsif @scanner.skip(/"/) then unescaped(expect(/(?:\\.|[^"\\\n])*/, "a string").tap { expect(/"/, "a quote") })
      else
        @scanner.skip(/'/)
        expect(/[^'\n]*/, "a string").tap { expect(/'/, "a quote") }
      end
    end

    def upto(ending, long: false)
      text = @scanner.scan_until(long ? /(?:\\.|[^\\])*?"""/m : ending) or fail_here("a string does not end")
      text[0...-3]
    end

    def unescaped(text)
      text.gsub(/\\(?:u(\h{4})|U(\h{8})|(.))/m) { $1 || $2 ? ($1 || $2).hex.chr(Encoding::UTF_8) : ESCAPES.fetch($3, $3) }
    end
  end
end
