# frozen_string_literal: true

# Looks up the entry at a path. Below a cookbook's folder, the policy's own files come first, even if the machine does not have
# them. All other entries come from the machine.

module Wrun
  module Machine
    # The most bytes of a file that one call reads.
    CHUNK = 8 << 20

    # The status of a cookbook's file. It is the same for all users, because the file comes with the policy.
    ARTIFACT = { "mode" => 0o644, "uid" => 0, "gid" => 0, "modified" => 0, "identity" => [0, 0], "links" => 1 }.freeze
    private_constant :ARTIFACT

    class << self
      # Returns the status of the entry at a path in the contract's form, or nil.
      def look(path, follow: true, about: nil)
        path = absolute(path)
        return if path.empty?

        of_cookbook(path) || ask(about, "machine.stat", path, follow)
      rescue Errno::EACCES
        # The folder of a cookbook from an artifact is virtual, so it has no other files.
        raise unless inside_cookbook?(path)
      end

      # Does the same as `look`, but raises `Errno::ENOENT` if the path does not exist.
      def look!(path, about, follow: true)
        look(path, follow: follow, about: about) or raise Errno::ENOENT.new(path_text(path), about)
      end

      # Returns at most `length` bytes of a file from an offset.
      def read(path, offset = 0, length = nil, about: "rb_sysopen")
        path = absolute(path)
        raise Errno::ENOENT.new(path, about) if path.empty?

        settle
        bytes = artifact_bytes(path)
        return bytes.byteslice(offset, length || bytes.bytesize) || "".b if bytes
        raise Errno::EISDIR.new(path, "io_fread") if of_cookbook(path)

        from_machine(path, offset, length, about)
      rescue Errno::EACCES
        raise unless inside_cookbook?(path)

        raise Errno::ENOENT.new(path, about), cause: nil
      end

      # The names in a directory.
      def names(path, about: "dir_initialize")
        path = absolute(path)
        own = inside_cookbook?(path) && Sources.entries(path)
        return own.dup if own

        settle
        ask(about, "machine.list-directory", path)
      rescue Errno::EACCES
        raise unless inside_cookbook?(path)

        raise Errno::ENOENT.new(path, about), cause: nil
      end

      # Changes what is at a path.
      def change(path, change, about: nil)
        ask(about, "machine.apply", absolute(path), change, Sources.origin)
        nil
      end

      # Writes a file or adds to it. `origin` is the place of the code, for code that no longer runs.
      def put(path, bytes, mode: 0o644, append: false, about: "rb_sysopen", origin: nil)
        bytes = bytes.b
        change = { (append ? "append" : "write") => [[0, bytes.bytesize], mode] }
        ask_with(bytes, about, "machine.apply", absolute(path), change, origin || Sources.origin)
        nil
      end

      private

      def inside_cookbook?(path) = Sources.cookbook_path?(path)

      def of_cookbook(path)
        return unless inside_cookbook?(path)

        case Sources.kind(path)
        when :file then ARTIFACT.merge("kind" => "file", "size" => Sources.read(path).bytesize)
        when :directory then ARTIFACT.merge("kind" => "directory", "size" => 0, "mode" => 0o755)
        end
      end

      def artifact_bytes(path)
        return runtime_bytes(path) if path.match?(RUNTIME)

        Sources.read(path) if inside_cookbook?(path)
      end

      # Returns a file of the runtime from its memory. While developers work on the runtime, the host supplies the file.
      def runtime_bytes(path)
        IO.native_binread(path)
      rescue Errno::ENOENT
        path.start_with?("/wrun/") && defined?(Boot::LIBRARY) ? library_bytes(path.delete_prefix("/wrun/")) : nil
      end

      def library_bytes(path)
        Bridge.call("cookbooks.read", Boot::LIBRARY, path)
      rescue Refused
        nil
      end

      def from_machine(path, offset, length, about)
        all = "".b
        loop do
          wanted = length ? [CHUNK, length - all.bytesize].min : CHUNK
          chunk = wanted.positive? ? ask(about, "machine.read-file", path, offset + all.bytesize, wanted) : ""
          return all << chunk if chunk.bytesize < CHUNK

          all << chunk
        end
      rescue Errno::EISDIR
        # Opening a directory succeeds. Only reading from it fails.
        raise Errno::EISDIR.new(path, about == "rb_sysopen" ? "io_fread" : about), cause: nil
      end
    end
  end
end
