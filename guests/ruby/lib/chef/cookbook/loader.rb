# frozen_string_literal: true

# Runs the phase `load`, which evaluates the cookbooks' files before the first recipe, in Chef's order. All libraries first,
# then all attributes files, then each cookbook's providers and resources, then definitions.

class Chef
  module Cookbook
    class Loader
      def initialize(cookbooks)
        @cookbooks = cookbooks
      end

      def load
        @cookbooks.each { |cookbook| check_versions(cookbook) }
        @cookbooks.each { |cookbook| load_libraries(cookbook) }
        @cookbooks.each { |cookbook| load_attributes(cookbook) }
        @cookbooks.each { |cookbook| load_resource_classes(cookbook) }
        @cookbooks.each { |cookbook| load_definitions(cookbook) }
      end

      private

      # Raises an error if the cookbook excludes this version of Chef or Ohai.
      def check_versions(cookbook)
        return unless metadata_says?(cookbook, /^\s*(?:chef|ohai)_version\b|"(?:chef|ohai)_versions"\s*:\s*\[\s*\[/)

        metadata = CookbookCollection.instance[cookbook].metadata
        metadata.validate_chef_version!
        metadata.validate_ohai_version!
      end

      # Returns true if the metadata's text matches the pattern. Otherwise the metadata need not be evaluated, which saves
      # time.
      def metadata_says?(cookbook, pattern)
        file = %w[metadata.json metadata.rb].find { |name| Wrun::Sources.file?(cookbook, name) }
        file && Wrun::Sources.text(cookbook, file).scrub.match?(pattern)
      end

      # Loads a cookbook's libraries. With `eager_load_libraries`, a cookbook selects the libraries to load now. Its code
      # loads the others with `require`.
      def load_libraries(cookbook)
        files = ruby_files(cookbook, "libraries")
        return if files.empty?

        wanted = eager_libraries(cookbook)
        $LOAD_PATH.unshift(Wrun::Sources.path(cookbook, "libraries")) unless wanted == true
        return unless wanted

        files = files.select { |file| wanted_library?(wanted, file) } unless wanted == true
        files.each { |file| Kernel.require(Wrun::Sources.path(cookbook, file)) }
      end

      def eager_libraries(cookbook)
        return true unless metadata_says?(cookbook, /eager_load_libraries/)

        CookbookCollection.instance[cookbook].metadata.eager_load_libraries
      end

      def wanted_library?(globs, file)
        within = file.delete_prefix("libraries/")
        flags = File::FNM_PATHNAME | File::FNM_EXTGLOB | File::FNM_DOTMATCH
        Array(globs).any? { |glob| File.fnmatch(glob, within, flags) }
      end

      def load_attributes(cookbook)
        version = CookbookCollection.instance[cookbook]
        named = version.attribute_filenames_by_short_filename
        include_attributes(cookbook, "default") if named.key?("default")
        ruby_files(cookbook, "attributes").each { |file| include_attributes(cookbook, File.basename(file, ".rb")) }
      end

      def include_attributes(cookbook, name) = Node.instance.include_attribute("#{cookbook}::#{name}")

      def load_resource_classes(cookbook)
        class_files(cookbook, "providers").each do |path|
          Chef::Provider::LWRPBase.build_from_file(cookbook, path, Chef.run_context)
        end
        class_files(cookbook, "resources").each do |path|
          Chef::Resource::LWRPBase.build_from_file(cookbook, path, Chef.run_context)
        end
      end

      # Returns the paths of a folder's class files. A file that begins with an underscore is a partial of other files.
      def class_files(cookbook, folder)
        files = ruby_files(cookbook, folder).reject { |file| File.basename(file).start_with?("_") }
        files.map { |file| Wrun::Sources.path(cookbook, file) }
      end

      def load_definitions(cookbook)
        ruby_files(cookbook, "definitions").each do |file|
          list = Chef::ResourceDefinitionList.new
          list.from_file(Wrun::Sources.path(cookbook, file))
          Chef.run_context.definitions.merge!(list.defines)
        end
      end

      def ruby_files(cookbook, folder)
        Wrun::Sources.paths(cookbook, folder).select { |path| path.end_with?(".rb") }
      end
    end
  end
end
