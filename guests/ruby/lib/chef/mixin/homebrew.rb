# frozen_string_literal: true

# Finds Homebrew and its owner. Cookbooks for several platforms include this module everywhere and use it only on macOS.

require "etc"
require_relative "shell_out"

class Chef
  module Mixin
    module Homebrew
      include ShellOut
      include ChefUtils::DSL::Which

      FOLDERS = %w[/opt/homebrew/bin /usr/local/bin /home/linuxbrew/.linuxbrew/bin].freeze
      private_constant :FOLDERS

      # Returns the id of the user, or of the owner of `brew`.
      def find_homebrew_uid(user = nil)
        return user if user.is_a?(Integer)
        return Etc.getpwnam(user).uid if user

        @find_homebrew_uid ||= ::File.stat(homebrew_bin_path).uid
      end

      def find_homebrew_username(user = nil)
        @find_homebrew_username ||= Etc.getpwuid(find_homebrew_uid(user)).name
      end

      # Returns the path of `brew`: the given path if it exists, or else a search in the usual folders.
      def homebrew_bin_path(path = nil)
        return path if path && ::File.exist?(path)

        found = which("brew", prepend_path: FOLDERS)
        found || raise(Exceptions::CannotDetermineHomebrewPath, 'Couldn\'t find the "brew" executable anywhere on the path.')
      end
    end
  end
end
