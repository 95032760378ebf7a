# frozen_string_literal: true

# Which names a cookbook's author may have meant: of resources and helpers in a recipe, of properties in a resource's block,
# of attributes and methods at the node.

class Chef
  # Recipes and the actions of custom resources.
  Wrun::Hints.on(DSL::Recipe) do |receiver|
    types = Chef.resource_handler_map.names
    types + DSL::Recipe.public_instance_methods + (receiver.is_a?(Provider) ? receiver.class.public_instance_methods(false) : [])
  end

  # `property 'value'`: the type's own properties, and what every resource may say.
  Wrun::Hints.on(Resource) do |receiver|
    own = receiver.class.properties.keys + Resource.public_instance_methods(false)
    acting = receiver.enclosing_provider
    acting ? own + acting.class.public_instance_methods(false) : own
  end

  # `node.platform`, which attributes have not answered to for long, and near names.
  Wrun::Hints.on(Node) do |receiver, name|
    attributes = receiver.equal?(Node.instance) ? Node.names : receiver.keys
    next "node['#{name}']" if attributes.include?(name.to_s)

    Node.public_instance_methods - Object.instance_methods
  end
end
