# frozen_string_literal: true

# Gives cookbooks access to the machine. WebAssembly gives Ruby neither files nor processes. So this code replaces methods of
# Ruby's classes (File, Dir, IO, Process, ..) with calls to the host. The host checks every call against the policy's grants.

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

# Writes buffered output and open files before the host gets the turn. No cookbook code could rescue an error here, so it goes
# to the log.
Wrun::Turns.before do
  STDOUT.flush
  Wrun::Machine.settle
rescue SystemCallError, IOError => error
  Wrun::Bridge.call("output.log", "error", "a file that was not closed could not be written: #{error.message}")
end

# Libraries that Chef has loaded, so that cookbooks use them without `require`.
%w[base64 etc logger open3 socket tempfile timeout tmpdir net/http mixlib/shellout].each { |name| require name }
