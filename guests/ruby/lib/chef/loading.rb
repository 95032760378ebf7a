# frozen_string_literal: true

# Loads the code that reads and evaluates a policy's cookbooks. It comes last because it needs everything else.

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
