# frozen_string_literal: true

# Implements the predicates on paths of File and FileTest.

module FileTest
  class << self
    # Each predicate returns false (or nil) if the path does not exist.
    {
      exist?: "true",
      file?: "found.file?",
      directory?: "found.directory?",
      size?: "found.size?",
      zero?: "found.zero?",
      empty?: "found.zero?",
      readable?: "true",
      readable_real?: "true",
      writable?: "true",
      writable_real?: "true",
      executable?: "found.executable?",
      executable_real?: "found.executable?",
      world_readable?: "found.world_readable?",
      world_writable?: "found.world_writable?",
      setuid?: "found.setuid?",
      setgid?: "found.setgid?",
      sticky?: "found.sticky?",
      owned?: "found.owned?",
      grpowned?: "found.grpowned?",
      socket?: "found.socket?",
      pipe?: "found.pipe?",
      blockdev?: "found.blockdev?",
      chardev?: "found.chardev?",
    }.each do |name, answer|
      class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
        def #{name}(path)
          found = wrun_found(path)
          found ? #{answer} : #{name.to_s.match?(/size|world/) ? "nil" : "false"}
        end
      RUBY
    end

    def symlink?(path)
      found = Wrun::Machine.look(path, follow: false)
      !found.nil? && found["kind"] == "link"
    end

    def size(path) = File.size(path)

    def identical?(one, other)
      one, other = wrun_found(one), wrun_found(other)
      !one.nil? && !other.nil? && one.ino.positive? && [one.dev, one.ino] == [other.dev, other.ino]
    end

    private

    def wrun_found(path)
      return path.stat if path.is_a?(File)

      Wrun::Machine.settle
      found = Wrun::Machine.look(path)
      File::Stat.wrun(found) if found
    rescue Errno::ENOTDIR, Errno::ELOOP, Errno::ENAMETOOLONG
      nil
    end
  end
end

class File
  class << self
    (FileTest.singleton_methods(false) - [:size]).each do |name|
      class_eval("def #{name}(...) = FileTest.#{name}(...)", __FILE__, __LINE__)
    end
  end
end
