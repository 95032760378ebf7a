# frozen_string_literal: true

# `ohai_hint`: writes a hint file, which tells Ohai facts that it cannot detect.

class Chef
  class Resource
    class OhaiHint
      property :compile_time, [true, false], default: true, desired_state: false
    end
  end
end
