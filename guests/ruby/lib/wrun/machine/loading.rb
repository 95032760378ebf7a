# frozen_string_literal: true

# Implements `require`, `require_relative` and `load`. Ruby itself loads the runtime's own library. Files of cookbooks and
# gems come from the policy, and other files from the machine, if the policy may read them. For a library that cannot work in
# the sandbox, the error explains why.

require_relative "libraries"
require_relative "gems"

module Wrun
  module Machine
    @loading = {}

    class << self
      # Evaluates the file of a feature once. Returns false if it has been evaluated before.
      def load_once(path)
        return false if $LOADED_FEATURES.include?(path) || @loading.key?(path)

        @loading[path] = true
        evaluate_file(path)
        $LOADED_FEATURES << path
        true
      ensure
        @loading.delete(path)
      end

      # Evaluates a file at the top level.
      def evaluate_file(path)
        text = read(path).force_encoding(Encoding::UTF_8)
        RubyVM::InstructionSequence.compile(text, path, path, 1).eval
        true
      end

      # Returns the path of the file for a `require` name, if it belongs to a cookbook or to the machine, or nil. Ruby itself
      # cannot find such files.
      def feature(name)
        return File.expand_path(name).then { |path| own_feature(path) unless path.match?(RUNTIME) } if name.match?(%r{\A[/~.]})

        $LOAD_PATH.each do |folder|
          folder = folder.to_s
          next if runtime_folder?(folder)

          found = own_feature(File.expand_path(name, folder))
          return found if found
        end
        nil
      end

      # Handles a name that Ruby itself does not find: loads a file of a gem that came with the policy, or accepts a part of
      # Chef that is loaded already. Otherwise raises the error, with an explanation if the library is known.
      def find_elsewhere(name, error)
        path = Gems.feature(name)
        return load_once(path) if path
        return wrun_require(Libraries.own(name)) if Libraries.own(name)
        return false if Libraries.of_chef?(name)

        raise Hints.attach(Libraries.refusal(name) || error, Libraries.advice(name))
      end

      private

      def runtime_folder?(folder) = "#{folder}/".match?(RUNTIME) || folder.start_with?("/usr/local/lib/ruby/")

      def own_feature(path)
        return path if path.end_with?(".rb") && File.file?(path)

        "#{path}.rb".then { |with_ending| with_ending if File.file?(with_ending) }
      end
    end
  end
end

module Kernel
  alias wrun_require require
  alias wrun_load load
  private :wrun_require, :wrun_load

  private

  def require(name)
    name = Wrun::Machine.path_text(name)
    path = Wrun::Machine.feature(name)
    return Wrun::Machine.load_once(path) if path

    wrun_require(name)
  rescue LoadError => error
    # The missing file may be another one, which the found file requires.
    raise error unless error.path == name

    Wrun::Machine.find_elsewhere(name, error)
  end

  def require_relative(name)
    frame = caller_locations(1, 1).first
    from = frame.absolute_path || frame.path
    require(File.expand_path(Wrun::Machine.path_text(name), File.dirname(from)))
  end

  def load(name, _wrap = false)
    name = Wrun::Machine.path_text(name)
    path = File.expand_path(name)
    return wrun_load(name) if path.match?(Wrun::Machine::RUNTIME)

    path = Wrun::Machine.feature(name) || path unless File.file?(path)
    raise LoadError, "cannot load such file -- #{name}" unless File.file?(path)

    Wrun::Machine.evaluate_file(path)
  end

  module_function :require, :require_relative, :load
end
