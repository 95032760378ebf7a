# frozen_string_literal: true

# Implements open files. Ruby reads the whole content into memory at `open`. It writes the content at `flush` or `close`, or
# before the next call to the machine. So many small writes change the file once, and other programs never see a half-written
# file.

require "stringio"

module Wrun
  module Machine
    # The mode of an open file: `"w+"`, `File::RDWR | File::CREAT`, `mode: "r:UTF-8"`.
    class Mode
      include File::Constants

      ACCESS = { "r" => [true, false], "w" => [false, true], "a" => [false, true] }.freeze
      private_constant :ACCESS

      attr_reader :encoding

      def initialize(mode, options)
        mode = options[:mode] || mode || "r"
        mode.is_a?(Integer) ? read_flags(mode) : read_text(mode.to_str)
        read_flags_beside(options[:flags]) if options[:flags]
        named = options[:external_encoding] || options[:encoding]
        @encoding = encoding_named(named) if named
        @encoding ||= options[:binmode] || @binary ? Encoding::BINARY : Encoding.default_external
      end

      def read? = @read
      def write? = @write
      def append? = @append
      def truncate? = @truncate
      def create? = @create
      def exclusive? = @exclusive

      private

      def read_text(text)
        letters, encoding = text.split(":", 2)
        @read, @write = ACCESS.fetch(letters[0]) { raise ArgumentError, "invalid access mode #{text}" }
        @append = letters.start_with?("a")
        @truncate = letters.start_with?("w")
        @create = @append || @truncate
        @exclusive = letters.include?("x")
        @binary = letters.include?("b")
        @read = @write = true if letters.include?("+")
        @encoding = encoding_named(encoding) if encoding
      end

      def read_flags(flags)
        access = flags & (RDONLY | WRONLY | RDWR)
        @write = access == WRONLY || access == RDWR
        @read = access != WRONLY
        @append = @truncate = @create = @exclusive = false
        read_flags_beside(flags)
      end

      def read_flags_beside(flags)
        @append ||= flags.anybits?(APPEND)
        @truncate ||= flags.anybits?(TRUNC)
        @create ||= flags.anybits?(CREAT)
        @exclusive ||= flags.anybits?(EXCL)
      end

      def encoding_named(name)
        return name if name.is_a?(Encoding)

        Encoding.find(name.to_s.split(":").first.sub(/\ABOM\|/i, ""))
      end
    end

    # The methods of a stream in memory that imitate a stream of the system.
    module StreamMethods
      FORWARDED = %i[
        <=> binmode binmode? closed_read? closed_write? each_byte each_char each_codepoint eof eof? external_encoding getbyte
        getc gets internal_encoding lineno pos pread read read_nonblock readbyte readchar readline readlines
        readpartial rewind seek set_encoding sysread tell ungetbyte ungetc
      ].freeze
      private_constant :FORWARDED

      FORWARDED.each do |name|
        class_eval("def #{name}(...) = wrun_io.#{name}(...)", __FILE__, __LINE__)
      end

      %i[write print printf puts putc syswrite write_nonblock].each do |name|
        class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
          def #{name}(...)
            result = wrun_io.#{name}(...)
            wrun_written
            result
          end
        RUBY
      end

      def <<(text)
        write(text)
        self
      end

      def each_line(...)
        result = wrun_io.each_line(...)
        result.equal?(wrun_io) ? self : result
      end

      alias each each_line

      def lineno=(number)
        wrun_io.lineno = number
      end

      def pos=(at)
        wrun_io.pos = at
      end

      def sysseek(...) = wrun_io.seek(...).then { wrun_io.pos }
      def pwrite(text, offset) = wrun_io.pos.then { |at| [wrun_io.seek(offset), write(text), wrun_io.seek(at)][1] }
      def closed? = @wrun_io.nil? || @wrun_io.closed?
      def fsync = flush && 0
      def fdatasync = fsync
      def sync = true
      def sync=(value)
        value
      end
      def tty? = false
      def isatty = false
      def autoclose? = true
      def close_on_exec? = true
      def close_on_exec=(value)
        value
      end
      def to_io = self
      def wait_readable(*) = self
      def wait_writable(*) = self
      def fcntl(*) = raise(IOError, "the sandbox has no file descriptors")
      def ioctl(*) = fcntl
      def fileno = fcntl
      def to_i = fcntl
      def set_encoding_by_bom = nil

      private

      def wrun_io
        @wrun_io or raise IOError, "uninitialized stream"
      end

      def wrun_written; end
    end

    @unwritten = {}.compare_by_identity

    class << self
      # Registers a file with unwritten changes.
      def unwritten(file) = @unwritten[file] = true

      # Removes a file from the list of unwritten files.
      def written(file) = @unwritten.delete(file)

      # Writes the changes of all open files. It runs before each call to the machine and before the host gets the turn.
      def settle
        return if @unwritten.empty?

        files = @unwritten.keys
        @unwritten.clear
        files.each(&:flush)
      end
    end
  end
end

# Ruby's class File, with content in memory instead of a file descriptor.
class File
  include Wrun::Machine::StreamMethods

  attr_reader :path
  alias to_path path

  def initialize(path, mode = nil, permissions = nil, **options)
    @path = Wrun::Machine.path_text(path).dup.freeze
    @wrun_place = Wrun::Machine.absolute(@path)
    @wrun_mode = Wrun::Machine::Mode.new(mode, options)
    @wrun_permissions = (permissions || options[:perm] || 0o666) & ~File.umask
    @wrun_from = 0
    @wrun_mode.write? ? wrun_open_for_writing : wrun_open_for_reading
    @wrun_io.set_encoding(@wrun_mode.encoding)
  end

  def self.open(*arguments, **options)
    return new(*arguments, **options) unless block_given?

    file = new(*arguments, **options)
    begin
      yield file
    ensure
      file.close
    end
  end

  # Writes this object's changes to the machine's file.
  def flush
    return self if @wrun_changed.nil?

    # Tries each write only once, so that a refused write does not fail again at each later call.
    origin = @wrun_changed
    @wrun_changed = nil
    Wrun::Machine.written(self)
    bytes = @wrun_io.string
    if @wrun_mode.append?
      added = bytes.byteslice(@wrun_from, bytes.bytesize)
      @wrun_from = bytes.bytesize
      Wrun::Machine.put(@wrun_place, added, mode: @wrun_permissions, append: true, origin: origin)
    else
      Wrun::Machine.put(@wrun_place, bytes, mode: @wrun_permissions, origin: origin)
    end
    self
  end

  def close
    return if closed?

    flush
  ensure
    @wrun_io&.close
    nil
  end

  def close_read = @wrun_io.close_read
  def close_write = flush && @wrun_io.close_write

  def reopen(*) = raise(NotImplementedError, "the sandbox does not reopen files")
  def flock(_operation) = 0
  def size = flush && @wrun_io.string.bytesize
  def stat = flush && File.stat(@wrun_place)
  def lstat = flush && File.lstat(@wrun_place)
  def mtime = stat.mtime
  def atime = stat.atime
  def ctime = stat.ctime
  def birthtime = stat.birthtime
  def chmod(mode) = flush && File.chmod(mode, @wrun_place).then { 0 }
  def chown(user, group) = flush && File.chown(user, group, @wrun_place).then { 0 }

  def truncate(length)
    @wrun_io.truncate(length)
    wrun_written
    0
  end

  def inspect = "#<#{self.class}:#{@path}#{" (closed)" if closed?}>"

  private

  def wrun_open_for_reading
    bytes = Wrun::Machine.read(@wrun_place)
    @wrun_io = StringIO.new(bytes, "r")
  end

  def wrun_open_for_writing
    found = Wrun::Machine.look(@wrun_place, about: "rb_sysopen")
    wrun_refuse(found)
    kept = found && !@wrun_mode.truncate? ? Wrun::Machine.read(@wrun_place) : "".b
    Wrun::Machine.put(@wrun_place, "", mode: @wrun_permissions) if found.nil?
    @wrun_io = StringIO.new(kept, wrun_io_mode)
    @wrun_from = kept.bytesize
    wrun_written if found && @wrun_mode.truncate? && found["size"] != 0
  end

  def wrun_refuse(found)
    raise Errno::EISDIR.new(@path, "rb_sysopen") if found && found["kind"] == "directory"
    raise Errno::EEXIST.new(@path, "rb_sysopen") if found && @wrun_mode.exclusive?
    raise Errno::ENOENT.new(@path, "rb_sysopen") if found.nil? && !@wrun_mode.create?
  end

  def wrun_io_mode
    return @wrun_mode.read? ? "a+" : "a" if @wrun_mode.append?

    @wrun_mode.read? ? "r+" : "w"
  end

  def wrun_written
    @wrun_changed ||= Wrun::Sources.origin
    Wrun::Machine.unwritten(self)
  end
end
