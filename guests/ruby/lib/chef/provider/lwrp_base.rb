# frozen_string_literal: true

# Creates provider classes from the files of a cookbook's `providers` folder.

class Chef
  class Provider
    class LWRPBase < Provider
      def load_current_resource = nil

      class << self
        include Mixin::FromFile

        def build_from_file(cookbook, path, _run_context)
          LWRPBase.loaded_lwrps[path] ||= build(cookbook, path)
        end

        def loaded_lwrps = @loaded_lwrps ||= {}

        private

        def build(cookbook, path)
          name = Wrun::Resources.name_of_file(cookbook, path)
          type = Class.new(self)
          type.provides(name.to_sym)
          type.class_from_file(path)
          type.define_singleton_method(:to_s) { "LWRP provider #{name} from cookbook #{cookbook}" }
          type.define_singleton_method(:inspect) { to_s }
          type
        end
      end
    end
  end
end
