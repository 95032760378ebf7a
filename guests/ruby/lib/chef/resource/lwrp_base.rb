# frozen_string_literal: true

# Creates resource classes from the files of a cookbook's `resources` folder.

class Chef
  class Resource
    class LWRPBase < Resource
      # Where a cookbook said which actions it wants, as `FILE:LINE`.
      attr_reader :wrun_asked_at

      def action(given = nil)
        @wrun_asked_at = Wrun::Sources.line_of_cookbook if given
        super
      end

      class << self
        include Mixin::FromFile

        # Returns the class of a file. It reads each file only once.
        def build_from_file(cookbook, path, run_context)
          LWRPBase.loaded_lwrps[path] ||= build(cookbook, path, run_context)
        end

        attr_writer :run_context

        def run_context = @run_context || Chef.run_context
        def node = run_context&.node

        # Sets the allowed actions, in the way of classes before Chef had `action` blocks.
        def actions(*names)
          names = names.flatten
          return allowed_actions(*names) if names.empty? || @allowed_actions

          self.allowed_actions = ([:nothing] + names).uniq
        end
        alias actions= allowed_actions=
        alias valid_actions allowed_actions

        def loaded_lwrps = @loaded_lwrps ||= {}

        private

        def build(cookbook, path, run_context)
          name = Wrun::Resources.name_of_file(cookbook, path)
          type = Class.new(self)
          type.run_context = run_context
          type.instance_variable_set(:@wrun_file, path)
          type.class_from_file(path)
          type.define_singleton_method(:to_s) { "Custom resource #{name} from cookbook #{cookbook}" }
          type.define_singleton_method(:inspect) { to_s }
          type.provides(name.to_sym)
          type
        end
      end
    end
  end
end
