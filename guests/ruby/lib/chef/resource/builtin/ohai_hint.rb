# frozen_string_literal: true

# `ohai_hint`: tells Ohai what it cannot find out by itself.

class Chef
  class Resource
    class OhaiHint
      property :compile_time, [true, false], default: true, desired_state: false
    end
  end
end
