# frozen_string_literal: true

# Adapts Zlib: Ruby's C code would open files itself and so miss the machine's files.

require "zlib.so"

module Zlib
  class GzipReader
    def self.open(path, &block) = wrap(File.open(path, "rb"), &block)
  end

  class GzipWriter
    def self.open(path, level = nil, strategy = nil, &block) = wrap(File.open(path, "wb"), level, strategy, &block)
  end
end
