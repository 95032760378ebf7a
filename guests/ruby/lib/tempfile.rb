# frozen_string_literal: true

# Implements Tempfile: creates a file on the machine under a new name. Finalizers never run in the sandbox, so a file stays
# unless the cookbook calls `unlink`.

require "delegate"
require "tmpdir"

class Tempfile < DelegateClass(File)
  class << self
    # Creates a temporary file. With a block, removes it after the block.
    def create(basename = "", folder = nil, mode: 0, **options)
      file = File.open(Dir::Tmpname.create(basename, folder), wrun_mode(mode), 0o600, **options)
      return file unless block_given?

      begin
        yield file
      ensure
        file.close
        File.unlink(file.path) if File.exist?(file.path)
      end
    end

    def open(*arguments, **options)
      file = new(*arguments, **options)
      return file unless block_given?

      begin
        yield file
      ensure
        file.close
      end
    end

    def wrun_mode(mode) = mode | File::RDWR | File::CREAT | File::EXCL
  end

  def initialize(basename = "", folder = nil, mode: 0, **options)
    @path = Dir::Tmpname.create(basename, folder)
    @options = options
    super(File.open(@path, Tempfile.wrun_mode(mode), 0o600, **options))
  end

  # The file's path, or nil after its removal.
  attr_reader :path

  def open
    __getobj__.close
    __setobj__(File.open(@path, "r+", **@options))
    __getobj__
  end

  def close(remove = false)
    __getobj__.close
    unlink if remove
    nil
  end

  def close! = close(true)

  def unlink
    return if @path.nil?

    File.unlink(@path) if File.exist?(@path)
    @path = nil
  end

  alias delete unlink

  def size = __getobj__.closed? ? File.size(@path) : __getobj__.size
  alias length size
  def inspect = "#<#{self.class}:#{@path}#{" (closed)" if __getobj__.closed?}>"
end
