# frozen_string_literal: true

# `chef_sleep`: waits.

class Chef
  class Resource
    class ChefSleep
      action :sleep do
        converge_by("sleep #{new_resource.seconds} seconds") { sleep(new_resource.seconds) }
      end
    end
  end
end
