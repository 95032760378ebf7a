# frozen_string_literal: true

# Implements File::Stat with the host's answer about a path.

class File
  class Stat
    KINDS = { "file" => "file", "directory" => "directory", "link" => "link", "special" => "unknown" }.freeze
    private_constant :KINDS

    def initialize(path)
      wrun_take(Wrun::Machine.look!(path, "rb_file_s_stat"))
    end

    # Creates a Stat from an answer of the host.
    def self.wrun(found) = allocate.wrun_take(found)

    def wrun_take(found)
      @found = found
      self
    end

    def file? = @found["kind"] == "file"
    def directory? = @found["kind"] == "directory"
    def symlink? = @found["kind"] == "link"
    def ftype = KINDS.fetch(@found["kind"])
    def size = @found["size"]
    def size? = (size if size.positive?)
    def zero? = size.zero?
    def uid = @found["uid"]
    def gid = @found["gid"]
    def nlink = @found["links"]
    def dev = @found["identity"][0]
    def ino = @found["identity"][1]
    def dev_major = dev >> 8
    def dev_minor = dev & 0xff
    def rdev = 0
    def blksize = 4096
    def blocks = (size + 511) / 512
    def mtime = Time.at(@found["modified"])
    def atime = mtime
    def ctime = mtime
    def birthtime = mtime
    def socket? = false
    def pipe? = false
    def blockdev? = false
    def chardev? = false
    def owned? = uid == Process.euid
    def grpowned? = gid == Process.egid

    # Returns the permission bits and, above them, the bits for the kind of file.
    def mode
      kind = { "directory" => 0o040000, "link" => 0o120000, "special" => 0o020000 }.fetch(@found["kind"], 0o100000)
      kind | @found["mode"]
    end

    def setuid? = mode.anybits?(0o4000)
    def setgid? = mode.anybits?(0o2000)
    def sticky? = mode.anybits?(0o1000)

    # A run has root's rights: root may read and write all files, and execute a file that anyone may execute.
    def readable? = true
    def readable_real? = true
    def writable? = true
    def writable_real? = true
    def executable? = directory? || mode.anybits?(0o111)
    def executable_real? = executable?
    def world_readable? = (mode & 0o777 if mode.anybits?(0o004))
    def world_writable? = (mode & 0o777 if mode.anybits?(0o002))

    def <=>(other) = other.is_a?(Stat) ? mtime <=> other.mtime : nil

    def inspect
      format("#<File::Stat ino=%d, mode=0%o, nlink=%d, uid=%d, gid=%d, size=%d, mtime=%s>", ino, mode, nlink, uid, gid, size, mtime)
    end
  end
end
