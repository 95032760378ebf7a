# frozen_string_literal: true

# What there is at a path. Below a cookbook's place the policy's own files come first, whether or not they are on the
# machine; everything else is the machine's.

module Wrun
  module Machine
    # How much of a file is asked for at a time.
    CHUNK = 8 << 20

    # What a file of a cookbook looks like: it came with the policy, whoever runs it.
    ARTIFACT = { "mode" => 0o644, "uid" => 0, "gid" => 0, "modified" => 0, "identity" => [0, 0], "links" => 1 }.freeze
    private_constant :ARTIFACT

    class << self
      # What is at a path, as the contract has it, or nil.
      def look(path, follow: true, about: nil)
        path = absolute(path)
        return if path.empty?

        of_cookbook(path) || ask(about, "machine.stat", path, follow)
      rescue Errno::EACCES
        # A cookbook without a place lies in a folder that is not there: nothing else is in it.
        raise unless inside_cookbook?(path)
      end

      # As `look`, where something must be there.
      def look!(path, about, follow: true)
        look(path, follow: follow, about: about) or raise Errno::ENOENT.new(path_text(path), about)
      end

      # The bytes of a file, from an offset, at most so many.
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

      # Writes a file or adds to it. `origin`: the place of the code, where that is no longer running.
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

      # The runtime's own files lie in its memory or, for those who work on it, with the host.
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
        # A directory can be opened: it is the reading that fails.
        raise Errno::EISDIR.new(path, about == "rb_sysopen" ? "io_fread" : about), cause: nil
      end
    end
  end
end
