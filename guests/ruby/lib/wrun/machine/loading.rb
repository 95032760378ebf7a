# frozen_string_literal: true

# `require` and its kin: the runtime's own library by Ruby itself, files of cookbooks and gems from the policy, others from
# the machine, as far as the policy may read it. What the sandbox cannot have is refused in plain words.

require_relative "libraries"
require_relative "gems"

module Wrun
  module Machine
    @loading = {}

    class << self
      # Evaluates the file of a feature unless that has been done. False: it has.
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

      # The file that a name leads to, if it is one that Ruby itself cannot find: of a cookbook or of the machine.
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

      # A name that Ruby itself does not find: a file of a gem that came with the policy, or a part of Chef that is there
      # already. Otherwise the error, in plain words if it is known why such a library is not there.
      def find_elsewhere(name, error)
        path = Gems.feature(name)
        return load_once(path) if path
        return wrun_require(Libraries.own(name)) if Libraries.own(name)
        return false if Libraries.of_chef?(name)

        raise Libraries.refusal(name) || error
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
    # A file that was found may itself ask for what is not there.
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
