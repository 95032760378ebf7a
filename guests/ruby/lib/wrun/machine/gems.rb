# frozen_string_literal: true

# Loads gems of plain Ruby that travel with the policy. Their files are `NAME-VERSION/..` in the pseudo-cookbook `wrun:gems`.
# The file `gems.json` beside them lists the gems that the build of the policy has chosen.

require "json"

module Wrun
  module Machine
    module Gems
      COOKBOOK = "wrun:gems"

      # The folder that cookbook code sees for the files of the gems.
      PLACE = "/var/chef/gems"

      # The file with the list of gems.
      INDEX = "gems.json"

      # A gem that travels with the policy.
      Travelling = Struct.new(:name, :version, :require_paths) do
        def folder = "#{name}-#{version}"
      end

      class << self
        # Returns the path of the file for a `require` name, or nil.
        def feature(name)
          found = files[name.delete_suffix(".rb")]
          found && "#{PLACE}/#{found}"
        end

        # Returns the gems that travel with the policy.
        def all = @all ||= read

        private

        def read
          return [] unless Sources.all(COOKBOOK).include?(INDEX)

          Sources.settle([COOKBOOK], { COOKBOOK => PLACE })
          JSON.parse(Sources.text(COOKBOOK, INDEX)).map { |one| Travelling.new(*one.values_at("name", "version", "require_paths")) }
        end

        # Returns the paths of files by their `require` names. If two gems have the same name, the first gem wins.
        def files
          @files ||= all.each_with_object({}) do |gem, files|
            gem.require_paths.each do |folder|
              below = "#{gem.folder}/#{folder}/".delete_suffix("./")
              Sources.all(COOKBOOK).each do |path|
                next unless path.start_with?(below) && path.end_with?(".rb")

                files[path[below.size...-3]] ||= path
              end
            end
          end
        end
      end
    end
  end
end
