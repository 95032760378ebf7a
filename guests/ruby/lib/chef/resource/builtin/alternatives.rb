# frozen_string_literal: true

# `alternatives`: which of several programs a name stands for.

class Chef
  class Resource
    class Alternatives
      property :link, String, default: lazy { |resource| "/usr/bin/#{resource.link_name}" }
    end
  end
end
