# frozen_string_literal: true

# Tempfile: a file of the machine under a name that nothing had. Ruby's own is removed by finalizers, which never run here:
# what a cookbook does not `unlink` stays.

require "delegate"
require "tmpdir"

class Tempfile < DelegateClass(File)
  class << self
    # Makes one and, with a block, removes it afterwards.
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

  # None once it has been removed.
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
