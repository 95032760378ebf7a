# frozen_string_literal: true

# Implements Mixlib::Archive with the machine's command `tar`, which the policy needs a grant for.

require "fileutils"

module Mixlib
  class Archive
    # Folders that are no entries of their own.
    DEFAULT_IGNORE = [/^\.$/].freeze
    private_constant :DEFAULT_IGNORE

    attr_reader :archive

    def self.archive_directory(path, archive, gzip: false, absolute: false)
      entries = ::Dir.children(path).sort
      entries = entries.map { |entry| ::File.join(path, entry) } if absolute
      new(archive, empty: true).wrun_pack(entries, gzip: gzip, folder: absolute ? "/" : path)
    end

    def initialize(archive, options = {})
      @archive = archive
      raise "Archive file not found: #{archive}" unless options[:empty] || ::File.exist?(archive)
    end

    def create(files, gzip: false) = wrun_pack(files, gzip: gzip, folder: ::Dir.pwd)

    # Unpacks all entries but those that one of the patterns matches.
    def extract(destination, perms: true, ignore: [])
      ignored = [ignore, DEFAULT_IGNORE].flatten
      entries = tar("--list", "--file", archive).output.lines(chomp: true)
      wanted = entries.reject { |entry| ignored.any? { |pattern| entry.match?(pattern) } }
      FileUtils.mkdir_p(destination)
      rights = perms ? "--preserve-permissions" : "--no-same-permissions"
      tar("--extract", "--file", archive, "--directory", destination, rights, "--no-recursion", "--verbatim-files-from",
          "--files-from", "-", input: "#{wanted.join("\n")}\n")
    end

    def wrun_pack(files, gzip:, folder:)
      tar("--create", "--file", archive, *("--gzip" if gzip), "--directory", folder, "--", *files)
    end

    private

    def tar(*arguments, input: nil)
      done = Wrun::Machine.run_noted(["tar", *arguments.map(&:to_s)], input: input)
      done.code&.zero? ? done : raise(done.errors.strip)
    end
  end
end
