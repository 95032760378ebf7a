# frozen_string_literal: true

# The methods that recipes, resources and providers share. Others include their helpers into this module.

class Chef
  module DSL
    module Universal
    end
  end
end
