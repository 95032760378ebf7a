# frozen_string_literal: true

# Implements File's class methods: reads the metadata of paths and changes files.

class File
  class << self
    def stat(path) = Stat.wrun(Wrun::Machine.look!(path, "rb_file_s_stat"))
    def lstat(path) = Stat.wrun(Wrun::Machine.look!(path, "rb_file_lstat", follow: false))
    def mtime(path) = wrun_stat(path, "rb_file_s_mtime").mtime
    def atime(path) = wrun_stat(path, "rb_file_s_atime").atime
    def ctime(path) = wrun_stat(path, "rb_file_s_ctime").ctime
    def birthtime(path) = wrun_stat(path, "rb_file_s_birthtime").birthtime
    def ftype(path) = Stat.wrun(Wrun::Machine.look!(path, "rb_file_s_ftype", follow: false)).ftype
    def size(path) = wrun_stat(path, "rb_file_s_size").size

    def readlink(path)
      Wrun::Machine.ask("rb_readlink", "machine.read-link", Wrun::Machine.absolute(path))
    end

    def realpath(path, folder = nil)
      path = folder ? join(Wrun::Machine.path_text(folder), Wrun::Machine.path_text(path)) : path
      full = Wrun::Machine.absolute(path)
      return native_expand_path(full, "/") if Wrun::Sources.kind(full)

      Wrun::Machine.ask("rb_realpath_internal", "machine.real-path", full)
    end

    # Does the same as `realpath`, but the last part of the path may be absent.
    def realdirpath(path, folder = nil)
      realpath(path, folder)
    rescue Errno::ENOENT
      full = expand_path(path, folder)
      join(realpath(dirname(full)), basename(full))
    end

    def delete(*paths)
      Wrun::Machine.settle
      paths.each do |path|
        wrun_refuse_directory(path, "apply2files")
        Wrun::Machine.change(path, "remove", about: "apply2files")
      end.size
    end

    alias unlink delete

    def rename(from, to)
      Wrun::Machine.settle
      target = Wrun::Machine.absolute(to)
      wrun_about_two(from, to, "rb_file_s_rename") { Wrun::Machine.change(from, { "rename" => target }) }
      0
    end

    def symlink(says, path)
      says = Wrun::Machine.path_text(says)
      wrun_about_two(says, path, "rb_file_s_symlink") { Wrun::Machine.change(path, { "link" => says }) }
      0
    end

    # The contract has no call for hard links. A cookbook can use a `link` resource or the command `ln`.
    def link(_from, _to) = raise(NotImplementedError, "the sandbox makes no hard links from Ruby: use a `link` resource")
    def mkfifo(*) = raise(NotImplementedError, "the sandbox makes no pipes")

    def chmod(mode, *paths)
      Wrun::Machine.settle
      paths.each { |path| Wrun::Machine.change(path, { "mode" => mode & 0o7777 }, about: "apply2files") }.size
    end

    def chown(user, group, *paths)
      Wrun::Machine.settle
      owner = [user, group].map { |number| number.nil? || number == -1 ? nil : number }
      paths.each { |path| Wrun::Machine.change(path, { "owner" => owner }, about: "apply2files") }.size
    end

    # Symbolic links do not have permissions of their own, and their owner has no effect. So both methods ignore them.
    def lchmod(_mode, *paths) = paths.size
    def lchown(user, group, *paths) = chown(user, group, *paths.reject { |path| symlink?(path) }).then { paths.size }

    def utime(accessed, modified, *paths)
      Wrun::Machine.settle
      times = [accessed, modified].map { |time| (time || Time.now).to_i }
      paths.each { |path| Wrun::Machine.change(path, { "times" => times }, about: "apply2files") }.size
    end

    alias lutime utime

    def truncate(path, length) = open(path, "r+") { |file| file.truncate(length) }

    # Returns and sets the permission bits that new files and directories lack. It affects only writes from this policy's Ruby
    # code.
    def umask(bits = nil)
      before = @wrun_umask || 0o022
      @wrun_umask = bits & 0o777 if bits
      before
    end

    private

    def wrun_stat(path, about)
      return path.stat if path.is_a?(File)

      Wrun::Machine.settle
      Stat.wrun(Wrun::Machine.look!(path, about))
    end

    def wrun_refuse_directory(path, about)
      found = Wrun::Machine.look(path, follow: false)
      raise Errno::EISDIR.new(Wrun::Machine.path_text(path), about) if found && found["kind"] == "directory"
    end

    # Names both paths in the error, as Ruby does.
    def wrun_about_two(from, to, about)
      yield
    rescue Errno::EACCES, Errno::EROFS
      raise
    rescue SystemCallError => error
      raise error.class.new("(#{Wrun::Machine.path_text(from)}, #{Wrun::Machine.path_text(to)})", about)
    end
  end
end
