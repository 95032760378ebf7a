# frozen_string_literal: true

# Where Homebrew is and whose it is: cookbooks for several platforms include this everywhere and ask on macOS.

require "etc"
require_relative "shell_out"

class Chef
  module Mixin
    module Homebrew
      include ShellOut
      include ChefUtils::DSL::Which

      FOLDERS = %w[/opt/homebrew/bin /usr/local/bin /home/linuxbrew/.linuxbrew/bin].freeze
      private_constant :FOLDERS

      # The number of a user, or of whoever owns `brew`.
      def find_homebrew_uid(user = nil)
        return user if user.is_a?(Integer)
        return Etc.getpwnam(user).uid if user

        @find_homebrew_uid ||= ::File.stat(homebrew_bin_path).uid
      end

      def find_homebrew_username(user = nil)
        @find_homebrew_username ||= Etc.getpwuid(find_homebrew_uid(user)).name
      end

      # The path of `brew`: the given one, if it is there.
      def homebrew_bin_path(path = nil)
        return path if path && ::File.exist?(path)

        found = which("brew", prepend_path: FOLDERS)
        found || raise(Exceptions::CannotDetermineHomebrewPath, 'Couldn\'t find the "brew" executable anywhere on the path.')
      end
    end
  end
end
