# frozen_string_literal: true

# Implements Dir.tmpdir and Dir.mktmpdir. Names of temporary files need not be random, because an existing name is never used.

require "fileutils"

class Dir
  def self.tmpdir
    [ENV["TMPDIR"], ENV["TMP"], ENV["TEMP"]].compact.find { |folder| File.directory?(folder) } || "/tmp"
  end

  # Creates a temporary directory. With a block, removes it after the block.
  def self.mktmpdir(basename = nil, folder = nil, **options)
    path = Tmpname.create(basename || "d", folder, **options) { |one| mkdir(one, 0o700) }
    return path unless block_given?

    begin
      yield path.dup
    ensure
      FileUtils.remove_entry(path)
    end
  end

  # Finds unused names for temporary files.
  module Tmpname
    @count = 0

    def self.tmpdir = Dir.tmpdir

    def self.create(basename, folder = nil, max_try: 100, **_options)
      prefix, suffix = basename.is_a?(Array) ? basename : [basename, ""]
      folder = File.expand_path(folder || Dir.tmpdir)
      max_try.times do
        path = File.join(folder, "#{prefix.to_s.tr("/", "")}#{next_part}#{suffix.to_s.tr("/", "")}")
        next if File.exist?(path)

        yield path if block_given?
        return path
      rescue Errno::EEXIST
        next
      end
      raise "cannot find a name for a temporary file in #{folder}"
    end

    def self.next_part
      @count += 1
      # The time differs between runs if the policy has the grant `clock`. The counter makes the name unique within a run.
      "#{Time.now.strftime("%Y%m%d")}-#{(Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) & 0xffffffffff).to_s(36)}-#{@count.to_s(36)}"
    end
    private_class_method :next_part
  end
end
