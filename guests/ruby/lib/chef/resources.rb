# frozen_string_literal: true

# Loads the code that declares resources. The order matters.

require_relative "constants"
require_relative "delayed_evaluator"
require_relative "exceptions"
require_relative "handler_maps"
require_relative "platform"
require_relative "run_context"
require_relative "mixin/properties"
require_relative "resource"
require_relative "recipe"
require_relative "resource_definition"
require_relative "../wrun/resources/types"
require_relative "../wrun/resources/acting"
require_relative "resource/builtin_types"
require_relative "resource/builtin"
require_relative "resource/before_cookbooks"

# While the runtime is made, and not in each run.
Chef::Resource.descendants.each { |type| type.wrun_define_told if type.wrun_builtin }
Chef.resource_handler_map.precede(Chef::Resource::BEFORE_COOKBOOKS)
Chef.resource_handler_map.lock!
Chef.provider_handler_map.lock!
