# frozen_string_literal: true

# The machine as a cookbook sees it. WebAssembly gives Ruby neither files nor processes, so the classes through which Ruby
# programs reach them are made to ask the host, which checks every call against the policy's grants.

require_relative "turns"
require_relative "sources"
require_relative "machine/host"
require_relative "machine/paths"
require_relative "machine/view"
require_relative "machine/status"
require_relative "machine/stream"
require_relative "machine/input_output"
require_relative "machine/files"
require_relative "machine/file_tests"
require_relative "machine/directories"
require_relative "machine/glob"
require_relative "machine/environment"
require_relative "machine/commands"
require_relative "machine/command_calls"
require_relative "machine/pipes"
require_relative "machine/processes"
require_relative "machine/http"
require_relative "machine/local_time"
require_relative "machine/randomness"
require_relative "machine/threads"
require_relative "machine/loading"
require_relative "machine/autoload"
require_relative "machine/older_ruby"

# What was printed and what open files still hold is written before the host gets the turn. Nobody is there to rescue what
# becomes of that.
Wrun::Turns.before do
  STDOUT.flush
  Wrun::Machine.settle
rescue SystemCallError, IOError => error
  Wrun::Bridge.call("output.log", "error", "a file that was not closed could not be written: #{error.message}")
end

# What cookbooks find loaded under Chef without asking for it.
%w[base64 etc logger open3 socket tempfile timeout tmpdir net/http mixlib/shellout].each { |name| require name }
