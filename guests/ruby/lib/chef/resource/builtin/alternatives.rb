# frozen_string_literal: true

# `alternatives`: selects the program for a generic name such as `editor`.

class Chef
  class Resource
    class Alternatives
      property :link, String, default: lazy { |resource| "/usr/bin/#{resource.link_name}" }
    end
  end
end
