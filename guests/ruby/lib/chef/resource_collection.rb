# frozen_string_literal: true

# Gives cookbooks access to the resources of a run context. The host determines their order. A resource that an action
# declares in an outer context follows right after the acting resource.

class Chef
  class ResourceCollection
    include Enumerable

    MULTIPLE = /^(.+)\[(.+?),(.+)\]$/
    SINGLE = /^(.+)\[(.*)\]$/
    NAMELESS = /^([^\[\]\s]+)$/
    private_constant :MULTIPLE, :SINGLE, :NAMELESS

    attr_accessor :unified_mode
    attr_reader :run_context

    # Returns true if a lookup with this value is possible. Otherwise raises Chef's error.
    def self.validate_lookup_spec!(spec)
      case spec
      when Resource, SINGLE, MULTIPLE, NAMELESS, Hash then true
      when String
        raise Exceptions::InvalidResourceSpecification,
              "The string `#{spec}' is not valid for resource collection lookup. " \
              "Correct syntax is `resource_type[resource_name]'"
      else
        raise Exceptions::InvalidResourceSpecification,
              "The object `#{spec.inspect}' is not valid for resource collection lookup. " \
              "Use a String like `resource_type[resource_name]' or a Chef::Resource object"
      end
    end

    def initialize(run_context = nil)
      @run_context = run_context
      @resources = []
      @by_key = {}
      @unified_mode = false
    end

    def validate_lookup_spec!(spec) = ResourceCollection.validate_lookup_spec!(spec)

    # Declares a resource here. In unified mode it has run when this returns.
    def insert(resource, resource_type: nil, instance_name: nil)
      raise ArgumentError, "Cannot insert a #{resource.class} into a resource collection: must be a subclass of Chef::Resource" unless resource.is_a?(Resource)

      resource.run_context ||= run_context
      resource.wrun_declare
      keep(resource, "#{resource_type || resource.resource_name}[#{instance_name || resource.name}]")
      Wrun::Resources.errand("settle", resource.wrun_id) if unified_mode
      resource
    end
    alias << insert

    # Adds a resource to this Ruby collection only. The caller has already declared it to the host.
    def keep(resource, key)
      @resources << resource
      @by_key[key] = resource
      @grown = true
    end

    def push(*resources)
      resources.flatten.each { |resource| insert(resource) }
      self
    end

    def delete(key)
      key = key.to_s
      resource = @by_key.delete(key) or raise Exceptions::ResourceNotFound, not_found(key)
      @resources.delete(resource)
      Wrun::Bridge.call("resources.retract", resource.wrun_id)
      resource
    end

    def each(&) = all_resources.each(&)
    def [](index) = all_resources[index]
    def each_index(&) = @resources.each_index(&)
    def empty? = @resources.empty?
    def size = @resources.size
    alias length size
    def last = all_resources.last

    # Returns the resources in order. It always returns the same array, because a caller may be iterating over it.
    def all_resources
      put_in_order if @grown
      @resources
    end

    def keys = @by_key.keys
    def resource_list = self
    def resource_set = self
    def insert_as(resource, type = nil, name = nil) = @by_key["#{type || resource.resource_name}[#{name || resource.name}]"] = resource

    # Finds a resource by `type[name]` in this context or in an enclosing one.
    def lookup(key)
      unless key.is_a?(String) || key.is_a?(Resource)
        raise ArgumentError, "Must pass a Chef::Resource or String to lookup"
      end

      each_around { |collection| found = collection.local(key.to_s) and return found }
      raise Exceptions::ResourceNotFound, not_found(key)
    end

    def lookup_local(key) = local(key.to_s) || raise(Exceptions::ResourceNotFound, not_found(key))

    # Finds resources by `"type[name]"`, `type: "name"` or `type: ["name", ..]`. Returns an array if there are several.
    def find(*specs)
      failure = nil
      each_around do |collection|
        return collection.find_local(*specs)
      rescue Exceptions::ResourceNotFound => error
        failure = error
      end
      found = specs.map { |spec| declared_elsewhere(spec) }
      raise failure unless found.all?

      found.size == 1 ? found.first : found
    end
    alias resources find

    def find_local(*specs)
      found = specs.flat_map do |spec|
        case spec
        when Hash then spec.flat_map { |type, names| Array(names).map { |name| lookup_local("#{type}[#{name}]") } }
        when String then find_by_text(spec)
        else
          raise Exceptions::InvalidResourceSpecification,
                "arguments to Chef::ResourceCollection::ResourceSet#find should be of the form :resource => 'name' or 'resource[name]'"
        end
      end
      found.size == 1 ? found.first : found
    end

    def to_s = all_resources.map(&:to_s).join(", ")
    def inspect = "#<Chef::ResourceCollection #{self}>"
    def to_json(*arguments) = { "resources" => all_resources.map(&:as_json) }.to_json(*arguments)

    def local(key) = @by_key[key]

    private

    # Sorts the resources into the host's order. Resources that the host no longer has in this context go to the end, in their
    # old order.
    def put_in_order
      @grown = false
      return unless run_context

      places = Wrun::Bridge.call("resources.all", run_context.wrun_id).each_with_index.to_h
      ordered = @resources.each_with_index.sort_by { |resource, at| [places.fetch(resource.wrun_id, places.size), at] }.map(&:first)
      @resources.replace(ordered)
    end

    # Finds a resource that the policy's other component has declared.
    def declared_elsewhere(spec)
      key = spec.is_a?(Hash) ? spec.first.then { |type, name| "#{type}[#{name}]" } : spec.to_s
      id = run_context && Wrun::Bridge.call("resources.find", run_context.wrun_id, key)
      id && Wrun::Resources.stand_for(id, run_context)
    end

    def not_found(key) = "Cannot find a resource matching #{key} (did you define it first?)"

    def each_around
      collection = self
      while collection
        yield collection
        collection = collection.run_context&.parent_run_context&.resource_collection
      end
    end

    def find_by_text(spec)
      return [lookup_local(spec)] if SINGLE.match?(spec) && local(spec)

      if (several = MULTIPLE.match(spec))
        names = spec[/^.+\[(.+)\]$/, 1].split(",")
        return names.map { |name| lookup_local("#{several[1]}[#{name}]") } if names.all? { |name| local("#{several[1]}[#{name}]") }
      end
      raise Exceptions::ResourceNotFound, not_found(spec) if SINGLE.match?(spec)
      return [lookup_local("#{spec}[]")] if NAMELESS.match?(spec)

      raise ArgumentError, "Bad string format #{spec}, you must have a string like resource_type[name]!"
    end
  end
end
