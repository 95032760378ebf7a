# frozen_string_literal: true

# Implements `Chef::Util::Backup`: keeps copies of a file that a cookbook's own code is about to write. Backups of resources
# are the host's.

require "fileutils"

class Chef
  class Util
    class Backup
      attr_reader :new_resource
      attr_accessor :path

      def initialize(new_resource, path = nil)
        @new_resource = new_resource
        @path = path || new_resource.path
      end

      # Copies the file and removes the oldest copies beyond the resource's number of them.
      def backup!
        kept = new_resource.backup
        return unless kept && kept.positive? && ::File.exist?(path)

        copy
        copies.drop(kept).each { |old| remove(old) }
      end

      private

      def place
        @place ||= ::File.join(Config[:file_backup_path].to_s, "#{path}.chef-#{Time.now.strftime("%Y%m%d%H%M%S.%6N")}")
      end

      def copy
        FileUtils.mkdir_p(::File.dirname(place)) if Config[:file_backup_path]
        FileUtils.cp(path, place, preserve: true)
        Log.info("#{new_resource} backed up to #{place}")
      end

      def remove(old)
        FileUtils.rm(old)
        Log.info("#{new_resource} removed backup at #{old}")
      end

      # Returns the copies of the file, the newest first.
      def copies
        folder = ::File.dirname(place)
        name = /\A#{Regexp.escape(::File.basename(path))}\.chef-[0-9.]*\z/
        ::Dir.entries(folder).grep(name).sort.reverse.map { |entry| ::File.join(folder, entry) }
      end
    end
  end
end
