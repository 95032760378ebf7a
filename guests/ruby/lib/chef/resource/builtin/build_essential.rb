# frozen_string_literal: true

# `build_essential`: installs the packages for compiling C.

class Chef
  class Resource
    class BuildEssential
      property :compile_time, [true, false], default: false, desired_state: false
    end
  end
end
