# frozen_string_literal: true

# Gems of plain Ruby whose files travel with the policy, as `NAME-VERSION/..` of a cookbook that is none. The file
# `gems.json` beside them says what there is: whoever built the policy has chosen.

require "json"

module Wrun
  module Machine
    module Gems
      COOKBOOK = "wrun:gems"

      # Where their files seem to lie.
      PLACE = "/var/chef/gems"

      # What says which gems there are.
      INDEX = "gems.json"

      # A gem that travels.
      Travelling = Struct.new(:name, :version, :require_paths) do
        def folder = "#{name}-#{version}"
      end

      class << self
        # The path of the file that a name leads to, or nil.
        def feature(name)
          found = files[name.delete_suffix(".rb")]
          found && "#{PLACE}/#{found}"
        end

        # The gems that travel with the policy.
        def all = @all ||= read

        private

        def read
          return [] unless Sources.all(COOKBOOK).include?(INDEX)

          Sources.settle([COOKBOOK], { COOKBOOK => PLACE })
          JSON.parse(Sources.text(COOKBOOK, INDEX)).map { |one| Travelling.new(*one.values_at("name", "version", "require_paths")) }
        end

        # Paths by the names under which files are required. Of two gems that have one, the first is taken.
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
