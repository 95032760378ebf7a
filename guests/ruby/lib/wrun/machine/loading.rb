# frozen_string_literal: true

# `require` and its kin: the runtime's own library by Ruby itself, files of cookbooks from the policy, others from the
# machine, as far as the policy may read it. What the sandbox cannot have is refused in plain words.

module Wrun
  module Machine
    # Why a library is not there, by the beginning of its name.
    LACKING = {
      "io/console" => "has no terminal",
      "pty" => "has no terminal",
      "readline" => "has no terminal",
      "reline" => "has no terminal",
      "curses" => "has no terminal",
      "ffi" => "calls no foreign libraries",
      "fiddle" => "calls no foreign libraries",
      "dbus" => "has no sockets and calls no foreign libraries",
      "pg" => "calls no foreign libraries",
      "mysql2" => "calls no foreign libraries",
      "mysql" => "calls no foreign libraries",
      "sqlite3" => "calls no foreign libraries",
      "nokogiri" => "calls no foreign libraries",
      "rubygems" => "installs and looks for no gems",
      "bundler" => "installs and looks for no gems",
      "win32" => "is no Windows",
      "win32ole" => "is no Windows",
      "drb" => "has no sockets",
      "webrick" => "has no sockets",
      "rest-client" => "has no gem of this name: Net::HTTP and Chef::HTTP are answered by the host",
      "rest_client" => "has no gem of this name: Net::HTTP and Chef::HTTP are answered by the host",
    }.freeze
    private_constant :LACKING

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

        folders = $LOAD_PATH.map(&:to_s).reject { |folder| runtime_folder?(folder) }
        folders.each do |folder|
          found = own_feature(File.expand_path(name, folder))
          return found if found
        end
        nil
      end

      # Refuses a library, in plain words if it is known why it is not there.
      def lacking(name, error)
        why = LACKING[name] || LACKING[name.split("/").first]
        return error unless why

        LoadError.new("cannot load such file -- #{name} (the sandbox that policies run in #{why})").tap do |plain|
          plain.instance_variable_set(:@path, name)
        end
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
    raise error unless error.path == name

    raise Wrun::Machine.lacking(name, error)
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

    path = Wrun::Machine.feature(name) || name unless File.file?(path)
    raise LoadError, "cannot load such file -- #{name}" unless File.file?(path)

    Wrun::Machine.evaluate_file(path)
  end

  module_function :require, :require_relative, :load
end
