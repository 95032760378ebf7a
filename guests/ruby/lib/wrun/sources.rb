# frozen_string_literal: true

# Gives access to the cookbooks' files by the paths that cookbook code sees. A cookbook from a folder has its real path. A
# cookbook from an artifact has a virtual path below the cache folder. In both cases the policy supplies the files.

require_relative "bridge"

module Wrun
  module Sources
    @places = {}
    @names = {}
    @paths = {}
    @folders = {}
    @pattern = nil

    class << self
      # Sets the names of the cookbooks and the folders of those from folders.
      def settle(names, places)
        names.each { |name| settle_one(name, places[name]) }
      end

      # Returns the folder that cookbook code sees for a cookbook.
      def place(cookbook) = @places[cookbook] || settle_one(cookbook, nil)

      # A file's path as cookbook code sees it.
      def path(cookbook, relative) = "#{place(cookbook)}/#{relative}"

      # The cookbook and the file within it that a path names, or nil.
      def split(path)
        return unless @pattern && (found = @pattern.match(path))

        relative = found.post_match
        return [@names[found[0]], ""] if relative.empty?

        [@names[found[0]], relative[1..]] if relative.start_with?("/")
      end

      alias locate split

      # Does the same as `split`, but also accepts paths with `..`, `//` or a slash at the end.
      def resolve(path)
        return unless @pattern

        path = path.to_s
        path = File.expand_path(path) if path.include?("/.") || path.include?("//") || path.end_with?("/")
        split(path)
      end

      # The paths of all files of a cookbook, sorted.
      def all(cookbook)
        @paths[cookbook] ||= Bridge.call("cookbooks.paths", cookbook, "")
      rescue Refused
        []
      end

      # The paths of all its files, or of those below one of its folders.
      def paths(cookbook, folder = nil)
        folder ? all(cookbook).select { |path| path.start_with?("#{folder}/") } : all(cookbook)
      end

      def file?(cookbook, relative) = all(cookbook).include?(relative)
      def bytes(cookbook, relative) = Bridge.call("cookbooks.read", cookbook, relative)
      def text(cookbook, relative) = bytes(cookbook, relative).force_encoding(Encoding::UTF_8)

      # Returns the kind of a path below a cookbook's folder: `:file`, `:directory` or nil.
      def kind(path)
        cookbook, relative = resolve(path)
        return unless cookbook
        return :directory if relative.empty? || folders(cookbook).key?(relative)

        :file if file?(cookbook, relative)
      end

      # Whether a path lies in some cookbook.
      def cookbook_path?(path) = !resolve(path).nil?

      # The bytes of a file by its path; nil if no cookbook has it.
      def read(path)
        cookbook, relative = resolve(path)
        bytes(cookbook, relative) if cookbook && file?(cookbook, relative)
      end

      # The names in a folder by its path, sorted; nil if there is no such folder.
      def entries(path)
        cookbook, relative = resolve(path)
        cookbook && folders(cookbook)[relative]
      end

      # Returns the running place in cookbook code: cookbook, recipe, file and line. If `recipe` is nil and the file is a
      # recipe, the recipe's name comes from the file.
      def origin(recipe = nil)
        Thread.each_caller_location do |frame|
          cookbook, file = split(frame.path)
          return at(cookbook, recipe, file, frame.lineno) if cookbook
        end
        at("", recipe, "", 0)
      end

      # The line in cookbook code that is running, as a backtrace has it.
      def line_of_cookbook
        Thread.each_caller_location { |frame| return "#{frame.path}:#{frame.lineno}" if split(frame.path) }
        nil
      end

      # Returns an origin in the contract's form: cookbook, recipe, file and line.
      def at(cookbook, recipe, file, line)
        recipe ||= file.start_with?("recipes/") ? File.basename(file, ".*") : ""
        [cookbook, recipe.to_s, file, line]
      end

      private

      def settle_one(name, place)
        # Chef stores downloaded cookbooks in this folder.
        place ||= "#{Chef::Config.file_cache}/cookbooks/#{name}"
        @places[name] = place
        @names[place] = name
        # Longest first, as one place may lie inside another.
        places = @names.keys.sort_by { |one| -one.size }
        @pattern = /\A(?:#{places.map { |one| Regexp.escape(one) }.join("|")})(?=\/|\z)/
        place
      end

      def folders(cookbook)
        @folders[cookbook] ||= all(cookbook).each_with_object({ "" => [] }) do |path, folders|
          enter(folders, path)
        end.each_value { |names| names.sort!.uniq! }
      end

      def enter(folders, path)
        until path.empty?
          folder, name = path.rpartition("/").values_at(0, 2)
          (folders[folder] ||= []) << name
          path = folder
        end
      end
    end
  end
end
