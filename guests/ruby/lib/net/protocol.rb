# frozen_string_literal: true

# The errors of Ruby's network protocols.

require "timeout"

module Net
  class ProtocolError < StandardError; end
  class ProtoSyntaxError < ProtocolError; end
  class ProtoFatalError < ProtocolError; end
  class ProtoUnknownError < ProtocolError; end
  class ProtoServerError < ProtocolError; end
  class ProtoAuthError < ProtocolError; end
  class ProtoCommandError < ProtocolError; end
  class ProtoRetriableError < ProtocolError; end
  class OpenTimeout < Timeout::Error; end
  class ReadTimeout < Timeout::Error; end
  class WriteTimeout < Timeout::Error; end
end
