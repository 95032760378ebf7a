# frozen_string_literal: true

# Provides `shell_out` and `shell_out!` under Chef's module name, for recipes, resources and providers.

require "mixlib/shellout/helper"

class Chef
  module Mixin
    module ShellOut
      include Mixlib::ShellOut::Helper

      # Also allows `Chef::Mixin::ShellOut.shell_out`.
      extend Mixlib::ShellOut::Helper
    end
  end

  module DSL
    module Universal
      include Mixin::ShellOut
    end
  end
end
