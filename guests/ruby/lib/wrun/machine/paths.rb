# frozen_string_literal: true

# Turns paths of cookbooks into absolute paths for the host. Only the guest knows the working directory and expands `~`.

module Wrun
  module Machine
    # Matches the runtime's own files, which only the runtime reads.
    RUNTIME = %r{\A/(?:wrun|usr/local/lib/ruby/4\.0\.0)/}

    @directory = "/"

    class << self
      # The policy's working directory. It does not change the working directory of the host's process.
      attr_reader :directory

      # Returns a path as a string that the host accepts.
      def path_text(path)
        path = path.to_path if path.respond_to?(:to_path)
        text = String.try_convert(path) or raise TypeError, "no implicit conversion of #{kind_of_value(path)} into String"
        raise ArgumentError, "string contains null byte" if text.include?("\0")

        text.encoding == Encoding::UTF_8 ? text : utf8(text)
      end

      # Returns the absolute path. It keeps `..` for the host, which can follow symbolic links.
      def absolute(path)
        text = path_text(path)
        return text if text.start_with?("/")
        return text if text.empty?

        @directory == "/" ? "/#{text}" : "#{@directory}/#{text}"
      end

      # Changes the working directory. With a block, the change ends with the block.
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

      # Returns a user's home directory. Without a user, returns `HOME` or root's home directory.
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
