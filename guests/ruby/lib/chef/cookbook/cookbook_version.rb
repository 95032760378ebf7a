# frozen_string_literal: true

# A cookbook of the policy as other cookbooks' code sees it: its files, its recipes' names, its metadata.

class Chef
  class CookbookVersion
    # Names of the kinds of files in a cookbook. Cookbooks use them in singular or plural, as strings or symbols.
    SEGMENTS = %i[recipes attributes definitions libraries resources providers files templates ohai compliance].freeze

    attr_reader :name

    # Stores the name as a string, as Chef does for cookbooks from a server.
    def initialize(name)
      @name = name.to_s
      @folder = name.to_s
    end

    def root_dir = Wrun::Sources.place(@folder)
    def root_paths = [root_dir]
    def version = metadata.version
    def full_name = "#{name}-#{version}"
    def metadata = @metadata ||= Cookbook::MetadataReader.read(@folder)
    def frozen_version? = false

    # Returns records of a segment's files in the form of Chef's manifests.
    def files_for(segment)
      segment = segment.to_s
      return root_files if segment == "root_files"

      Wrun::Sources.paths(@folder, segment).map { |path| record(path) }
    end

    def segment_filenames(segment) = files_for(segment).map { |file| file[:full_path] }
    def all_files = Wrun::Sources.all(@folder).map { |path| full(path) }
    def manifest = { "all_files" => Wrun::Sources.all(@folder).map { |path| record(path).transform_keys(&:to_s) } }

    SEGMENTS.each do |segment|
      define_method(:"#{segment.to_s.delete_suffix("s")}_filenames") { segment_filenames(segment) }
    end

    # Return paths by the short names of recipes or attributes files, one method for each file format.
    def recipe_filenames_by_name = @recipe_filenames_by_name ||= by_name("recipes", %w[.rb], "recipe.rb")
    def recipe_yml_filenames_by_name = @recipe_yml_filenames_by_name ||= yaml_by_name
    def recipe_json_filenames_by_name = @recipe_json_filenames_by_name ||= by_name("recipes", %w[.json], "recipe.json")

    def attribute_filenames_by_short_filename
      @attribute_filenames_by_short_filename ||= by_name("attributes", %w[.rb], "attributes.rb")
    end

    def recipe_names
      [recipe_filenames_by_name, recipe_yml_filenames_by_name, recipe_json_filenames_by_name].flat_map(&:keys).uniq
    end

    def fully_qualified_recipe_names = recipe_names.map { |recipe| "#{name}::#{recipe}" }
    def recipe?(recipe) = recipe_names.include?(recipe.to_s)

    # The path of a recipe's file; nil if there is none.
    def recipe_path(recipe)
      recipe_filenames_by_name[recipe] || recipe_yml_filenames_by_name[recipe] || recipe_json_filenames_by_name[recipe]
    end

    def has_template_for_node?(_node, template) = !locate("templates", template).nil?
    def has_cookbook_file_for_node?(_node, file) = !locate("files", file).nil?

    # Returns the path of the file in `templates` or `files` that is most specific for this node.
    def preferred_filename_on_disk_location(node, segment, filename, _current = nil)
      found = locate(segment.to_s, filename)
      return full(found) if found

      raise Wrun::Hints.attach(Exceptions::FileNotFound.new(absent(node, segment.to_s, filename)), hint(segment.to_s, filename))
    end

    # Returns the relative path of the most specific file, or nil.
    def locate(segment, filename)
      ((@located ||= {})[segment] ||= {})[filename] ||= look_up(segment, Array(filename))
    end

    def reload! = self
    def <=>(other) = Chef::Version.new(version) <=> Chef::Version.new(other.version)
    def to_s = "#<Chef::CookbookVersion: #{name} [#{version}]>"

    private

    def look_up(segment, names)
      Wrun::Bridge.call("cookbooks.locate", @folder, segment, names)
    rescue Wrun::Refused
      nil
    end

    def full(path) = Wrun::Sources.path(@folder, path)

    # Returns a message with the places that were searched and the files that exist.
    def absent(node, segment, filename)
      places = filename.is_a?(Array) ? filename : places_of(node, filename)
      text = "Cookbook '#{name}' (#{version}) does not contain a file at any of these locations:\n" +
             places.map { |place| "  #{segment}/#{place}" }.join("\n")
      there = Wrun::Sources.paths(@folder, segment)
      there.empty? ? text : "#{text}\n\nThis cookbook _does_ contain: ['#{there.join("','")}']"
    end

    # The file that may have been meant; of a cookbook without such files, where they belong.
    def hint(segment, filename)
      there = Wrun::Sources.paths(@folder, segment).map { |path| path.delete_prefix("#{segment}/") }
      return "put it into #{name}/#{segment}/" if there.empty?

      names = there + there.filter_map { |path| path.split("/", 2)[1] }
      near = Array(filename).filter_map { |one| Wrun::Hints.nearest(one.to_s, names) }.first
      near && "did you mean `#{near}`?"
    end

    # Returns the searched places, from the most specific to the least specific.
    def places_of(node, filename)
      platform = node["platform"]
      folders = ["host-#{node["fqdn"]}", "#{platform}-#{node["platform_version"]}", platform, "default"]
      folders.map { |folder| "#{folder}/#{filename}" } << filename
    end

    def record(path)
      segment, _, rest = path.partition("/")
      name = %w[templates files].include?(segment) ? rest : File.basename(path)
      { name: "#{segment}/#{name}", path: path, full_path: full(path), specificity: "default" }
    end

    def root_files
      Wrun::Sources.all(@folder).reject { |path| path.include?("/") }.map do |path|
        { name: "root_files/#{path}", path: path, full_path: full(path), specificity: "default" }
      end
    end

    # Returns paths by short name. A file such as `recipe.rb` in the cookbook's own folder counts as `default`.
    def by_name(folder, endings, alias_for_default)
      files = Wrun::Sources.paths(@folder, folder).select { |path| endings.include?(File.extname(path)) }
      named = files.to_h { |path| [File.basename(path, File.extname(path)), full(path)] }
      return named unless Wrun::Sources.file?(@folder, alias_for_default)

      if named["default"]
        ignored = "#{folder}/default#{endings.first}"
        Chef::Log.error("Cookbook #{name} contains both #{alias_for_default} and #{ignored}, ignoring #{ignored}")
      end
      named.merge("default" => full(alias_for_default))
    end

    def yaml_by_name
      files = Wrun::Sources.paths(@folder, "recipes").select { |path| %w[.yml .yaml].include?(File.extname(path)) }
      files.group_by { |path| path.delete_suffix(File.extname(path)) }.each_value do |same|
        next if same.one?

        raise Exceptions::AmbiguousYAMLFile,
              "Cookbook #{name}@#{version} contains ambiguous files: #{same.sort.reverse.join(" and ")}. " \
              "Please update the cookbook to remove the incorrect file."
      end
      root = %w[recipe.yml recipe.yaml].find { |path| Wrun::Sources.file?(@folder, path) }
      by_name("recipes", %w[.yml .yaml], root || "recipe.yml")
    end
  end

  # The policy's cookbooks by name.
  class CookbookCollection < Mash
    # The most names of cookbooks in a hint.
    MOST_NAMES = 12

    def self.instance = @instance ||= new

    def initialize(versions = {})
      super() do |_, key|
        message = "Cookbook #{key} not found. If you're loading #{key} from another cookbook, " \
                  "make sure you configure the dependency in your metadata"
        raise Wrun::Hints.attach(Exceptions::CookbookNotFound.new(message), there_are(key))
      end
      versions.each { |name, version| self[name] = version }
    end

    def validate! = nil
    def install_gems(_events = nil) = nil

    private

    # The hint for a name that no cookbook has: a near name, and the cookbooks that are there.
    def there_are(name)
      near = Wrun::Hints.nearest(name.to_s, keys)
      names = keys.sort
      more = names.size > MOST_NAMES ? " and #{names.size - MOST_NAMES} more" : ""
      "#{"did you mean `#{near}`? " if near}the cookbooks here: #{names.first(MOST_NAMES).join(", ")}#{more}" if names.any?
    end
  end
end
