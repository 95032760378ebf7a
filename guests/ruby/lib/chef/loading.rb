# frozen_string_literal: true

# How a policy's cookbooks are read and evaluated; comes after everything that they use.

require_relative "cookbook/cookbook_version"
require_relative "cookbook/metadata"
require_relative "policyfile"
require_relative "client_settings"
require_relative "cookbook/loader"
require_relative "cookbook/recipes"
require_relative "cookbook/phases"
require_relative "ohai"
require_relative "hints"
require_relative "../wrun/check"
require_relative "../wrun/attribute_lines"

class Chef
  class RunContext
    include Loading
  end

  class Node
    include DSL::Universal
  end

  class Recipe
    include DSL::Tags
  end
end
