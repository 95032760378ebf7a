# frozen_string_literal: true

# `chef_handler`: registers an object of a class as a report or exception handler.

class Chef
  class Resource
    class ChefHandler
      property :type, Hash, default: { report: true, exception: true }

      alias supports type

      action :enable do
        kinds = new_resource.type.select { |_, wanted| wanted }.keys
        kinds.each { |kind| unregister(kind) }
        require new_resource.source unless new_resource.source.nil?
        arguments = new_resource.arguments
        handler = handler_class.new(*(arguments.is_a?(Array) ? arguments : [arguments]))
        kinds.each { |kind| register(kind, handler) }
      end

      action :disable do
        new_resource.type.each_key { |kind| unregister(kind) }
      end

      action_class do
        def handler_class = Object.const_get(new_resource.class_name)
        def handlers(kind) = Chef::Config[:"#{kind}_handlers"]

        def register(kind, handler)
          Chef::Log.debug("Enabling #{handler.class.name} as a #{kind} handler.")
          handlers(kind) << handler
        end

        def unregister(kind)
          handlers(kind).delete_if do |handler|
            next false unless handler.class.name == new_resource.class_name

            Chef::Log.debug("Disabling #{new_resource.class_name} as a #{kind} handler.")
            true
          end
        end
      end
    end
  end
end
