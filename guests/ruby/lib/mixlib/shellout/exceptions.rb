# frozen_string_literal: true

# Defines the errors of commands.

module Mixlib
  class ShellOut
    class Error < RuntimeError; end
    class ShellCommandFailed < Error; end
    class CommandTimeout < Error; end
    class InvalidCommandOption < Error; end
    class EmptyWindowsCommand < ShellCommandFailed; end
  end
end
