# frozen_string_literal: true

# Chef's name for `shell_out` and `shell_out!`, which recipes, resources and providers have.

require "mixlib/shellout/helper"

class Chef
  module Mixin
    module ShellOut
      include Mixlib::ShellOut::Helper

      # Whoever calls them on the module itself has them too.
      extend Mixlib::ShellOut::Helper
    end
  end

  module DSL
    module Universal
      include Mixin::ShellOut
    end
  end
end
