# frozen_string_literal: true

# Implements IO's class methods that read and write whole files by their paths.

class IO
  class << self
    alias native_binread binread

    def read(path, length = nil, offset = 0, **options)
      return wrun_command(path, options) if wrun_command?(path)

      bytes = Wrun::Machine.read(path, offset || 0, length)
      return bytes.empty? && length.to_i.positive? ? nil : bytes if length

      bytes.force_encoding(Wrun::Machine::Mode.new(nil, options).encoding)
    end

    def binread(path, length = nil, offset = 0) = Wrun::Machine.read(path, offset || 0, length)

    def write(path, text, offset = nil, mode: nil, perm: nil, **options)
      return File.open(path, mode || "r+", perm, **options) { |file| file.seek(offset) && file.write(text) } if offset
      return File.open(path, mode, perm, **options) { |file| file.write(text) } if mode && !%w[w wb].include?(mode)

      Wrun::Machine.settle
      text = text.to_s
      Wrun::Machine.put(path, text, mode: (perm || 0o666) & ~File.umask)
      text.bytesize
    end

    def binwrite(path, text, offset = nil, **options) = write(path, text.to_s.b, offset, **options)

    def readlines(path, *arguments, chomp: false, **options)
      StringIO.new(read(path, **options)).readlines(*arguments, chomp: chomp)
    end

    def foreach(path, *arguments, chomp: false, **options, &block)
      return to_enum(:foreach, path, *arguments, chomp: chomp, **options) unless block

      StringIO.new(read(path, **options)).each_line(*arguments, chomp: chomp, &block)
      nil
    end

    # Copies the content of one stream or file to another. Returns the number of bytes.
    def copy_stream(from, to, length = nil, offset = nil)
      bytes = wrun_taken(from, length, offset) || ""
      to.respond_to?(:write) ? to.write(bytes) : write(to, bytes)
      bytes.bytesize
    end

    def sysopen(*) = raise(NotImplementedError, "the sandbox has no file descriptors")
    def pipe(*) = raise(NotImplementedError, "the sandbox has no pipes")

    # All streams are in memory, so they are always ready.
    def select(readers, writers = nil, _errors = nil, _timeout = nil) = [readers || [], writers || [], []]

    private

    def wrun_command?(path) = equal?(IO) && path.is_a?(String) && path.start_with?("|")
    def wrun_command(path, options) = popen(path[1..], **options.slice(:mode), &:read)

    def wrun_taken(from, length, offset)
      return binread(from, length, offset || 0) unless from.respond_to?(:read) || from.respond_to?(:readpartial)

      from.seek(offset) if offset
      length ? from.read(length) : from.read
    end
  end
end
