# frozen_string_literal: true

# Collects the names that a cookbook's author may have meant: resources and helpers in a recipe, properties in a resource's
# block, attributes and methods of the node.

class Chef
  # Recipes and the actions of custom resources.
  Wrun::Hints.on(DSL::Recipe) do |receiver|
    types = Chef.resource_handler_map.names
    types + DSL::Recipe.public_instance_methods + (receiver.is_a?(Provider) ? receiver.class.public_instance_methods(false) : [])
  end

  # In the block of a resource: the type's own properties and the methods of all resources.
  Wrun::Hints.on(Resource) do |receiver|
    own = receiver.class.properties.keys + Resource.public_instance_methods(false)
    acting = receiver.enclosing_provider
    acting ? own + acting.class.public_instance_methods(false) : own
  end

  # For `node.platform`, suggests `node['platform']`, because Chef removed attributes as methods. Also suggests similar method
  # names.
  Wrun::Hints.on(Node) do |receiver, name|
    attributes = receiver.equal?(Node.instance) ? Node.names : receiver.keys
    next "node['#{name}']" if attributes.include?(name.to_s)

    Node.public_instance_methods - Object.instance_methods
  end
end
