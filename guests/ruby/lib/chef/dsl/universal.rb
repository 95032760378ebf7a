# frozen_string_literal: true

# What recipes, resources and providers have in common. Others include their helpers into this module.

class Chef
  module DSL
    module Universal
    end
  end
end
