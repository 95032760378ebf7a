# frozen_string_literal: true

# Paths: what a cookbook wrote becomes an absolute path for the host. The working directory and `~` are known here alone.

module Wrun
  module Machine
    # Where the runtime's own files lie, which only the runtime reads.
    RUNTIME = %r{\A/(?:wrun|usr/local/lib/ruby/4\.0\.0)/}

    @directory = "/"

    class << self
      # The working directory: of the policy alone, the host's process does not move.
      attr_reader :directory

      # The path that something is called by, as a string that is fit for the host.
      def path_text(path)
        path = path.to_path if path.respond_to?(:to_path)
        text = String.try_convert(path) or raise TypeError, "no implicit conversion of #{kind_of_value(path)} into String"
        raise ArgumentError, "string contains null byte" if text.include?("\0")

        text.encoding == Encoding::UTF_8 ? text : utf8(text)
      end

      # The absolute path of something; `..` is left to the host, which knows what is a link.
      def absolute(path)
        text = path_text(path)
        return text if text.start_with?("/")
        return text if text.empty?

        @directory == "/" ? "/#{text}" : "#{@directory}/#{text}"
      end

      # Makes a directory the working one, for as long as the block runs.
      def change_directory(path)
        before = @directory
        @directory = path
        return 0 unless block_given?

        begin
          yield path
        ensure
          @directory = before
        end
      end

      # A user's home, or of whoever the run is for.
      def home(user = nil)
        return account(user, "user #{user} doesn't exist").fetch("home") if user

        ENV["HOME"] || account("root", "couldn't find HOME environment -- expanding `~'").fetch("home")
      end

      def users = ask(nil, "machine.users")
      def groups = ask(nil, "machine.groups")

      private

      def account(name, message)
        users.find { |user| user["name"] == name } or raise ArgumentError, message
      end

      def utf8(text)
        same = text.dup.force_encoding(Encoding::UTF_8)
        return same if text.ascii_only? || (text.encoding == Encoding::BINARY && same.valid_encoding?)

        text.encode(Encoding::UTF_8)
      end

      def kind_of_value(value)
        case value
        when nil then "nil"
        when true, false then value.to_s
        else value.class.to_s
        end
      end
    end
  end
end

class File
  class << self
    alias native_expand_path expand_path
    alias native_absolute_path absolute_path

    def expand_path(path, folder = nil)
      path = Wrun::Machine.path_text(path)
      path = wrun_home(path) if path.start_with?("~")
      return native_expand_path(path, "/") if path.start_with?("/")

      folder = folder.nil? ? Wrun::Machine.directory : expand_path(folder)
      native_expand_path("#{folder}/#{path}", "/")
    end

    def absolute_path(path, folder = nil)
      path = Wrun::Machine.path_text(path)
      return native_absolute_path(path, "/") if path.start_with?("/")

      folder = folder.nil? ? Wrun::Machine.directory : absolute_path(folder)
      native_absolute_path("#{folder}/#{path}", "/")
    end

    private

    def wrun_home(path)
      user, rest = path[1..].split("/", 2)
      home = Wrun::Machine.home(user.to_s.empty? ? nil : user)
      raise ArgumentError, "non-absolute home" unless home.start_with?("/")

      rest ? "#{home}/#{rest}" : home
    end
  end
end
