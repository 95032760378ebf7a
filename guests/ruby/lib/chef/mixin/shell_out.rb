# frozen_string_literal: true

# Chef's name for `shell_out` and `shell_out!`.

require "mixlib/shellout/helper"

class Chef
  module Mixin
    module ShellOut
      include Mixlib::ShellOut::Helper

      # Classes that extend themselves by it have the methods too.
      extend Mixlib::ShellOut::Helper
    end
  end
end
