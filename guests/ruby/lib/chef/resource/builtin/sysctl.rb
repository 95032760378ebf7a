# frozen_string_literal: true

# `sysctl`: a parameter of the kernel, now and at each start.

class Chef
  class Resource
    class Sysctl
      def after_created
        super
        return if node["os"] == "linux"

        raise "The sysctl resource requires Linux as it needs sysctl and the sysctl.d directory functionality."
      end
    end
  end
end
