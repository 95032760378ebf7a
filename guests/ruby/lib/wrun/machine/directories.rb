# frozen_string_literal: true

# Implements Dir: lists, creates and removes directories through the host.

class Dir
  class << self
    def exist?(path) = FileTest.directory?(path)
    def empty?(path) = FileTest.directory?(path) && Wrun::Machine.names(path).empty?
    def children(path, **) = Wrun::Machine.names(path)
    def entries(path, **) = [".", ".."] + Wrun::Machine.names(path)

    def each_child(path, **, &block)
      block ? children(path).each(&block).then { nil } : children(path).each
    end

    def foreach(path, **, &block)
      block ? entries(path).each(&block).then { nil } : entries(path).each
    end

    def pwd = Wrun::Machine.directory.dup
    alias getwd pwd
    def home(user = nil) = Wrun::Machine.home(user)

    def chdir(path = home, &block)
      found = Wrun::Machine.look!(path, "dir_chdir0")
      raise Errno::ENOTDIR.new(path.to_s, "dir_chdir0") unless found["kind"] == "directory"

      Wrun::Machine.change_directory(File.expand_path(path), &block)
    end

    def mkdir(path, mode = 0o777)
      Wrun::Machine.change(path, { "make-directory" => mode & ~File.umask & 0o7777 }, about: "dir_s_mkdir")
      0
    end

    def rmdir(path)
      Wrun::Machine.settle
      Wrun::Machine.change(path, "remove-directory", about: "dir_s_rmdir")
      0
    end

    alias delete rmdir
    alias unlink rmdir

    def open(path, **)
      directory = new(path)
      return directory unless block_given?

      begin
        yield directory
      ensure
        directory.close
      end
    end

    def chroot(*) = raise(Errno::EPERM, "chroot")
    def fchdir(*) = raise(NotImplementedError, "the sandbox has no file descriptors")
    alias for_fd fchdir
  end

  attr_reader :path
  alias to_path path

  def initialize(path, **)
    @path = Wrun::Machine.path_text(path).dup
    @names = [".", ".."] + Wrun::Machine.names(path)
    @at = 0
    @closed = false
  end

  def read = wrun_open { @names[@at]&.tap { @at += 1 } }
  def children = wrun_open { @names.drop(2) }
  def each_child(&) = children.each(&)
  def tell = @at
  alias pos tell
  def seek(at) = (@at = at).then { self }
  def pos=(at)
    @at = at
  end
  def rewind = seek(0)
  def close = (@closed = true).then { nil }
  def chdir(&) = Dir.chdir(@path, &)
  def inspect = "#<Dir:#{@path}>"
  def fileno = raise(NotImplementedError, "the sandbox has no file descriptors")

  def each
    return to_enum(:each) unless block_given?

    while (name = read)
      yield name
    end
    self
  end

  private

  def wrun_open
    raise IOError, "uninitialized Dir" if @closed

    yield
  end
end
