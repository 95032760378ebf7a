# frozen_string_literal: true

# Searches the operators' data: other nodes, roles, environments and data bags.

class Chef
  class Node
    # One attribute level of a saved node. A read of a missing key creates an empty hash.
    class Level < ChefUtils::Mash
      def [](key) = key?(key) ? super : self[key] = Level.new

      protected

      def convert_value(value) = value.is_a?(Hash) && !value.is_a?(Level) ? Level.new(value) : super
    end

    # A saved node from a search, or a node that a cookbook creates. Writes change only this object.
    class Saved
      include Enumerable

      LEVELS = %w[default normal override automatic].freeze

      def initialize(data)
        @name = data["name"]
        @chef_environment = data["chef_environment"] || "_default"
        @policy = data.slice("policy_name", "policy_group")
        @run_list = RunList.new(*Array(data["run_list"]))
        @levels = LEVELS.to_h { |level| [level, Level.new(data[level] || {})] }
      end

      def name(text = nil) = text ? @name = text : @name
      def chef_environment(text = nil) = text ? @chef_environment = text : @chef_environment
      def run_list(*items) = items.empty? ? @run_list : @run_list.reset!(*items)

      LEVELS.each do |level|
        define_method(level) { @levels.fetch(level) }
        alias_method :"#{level}_attrs", level
      end

      # The highest level that has the key wins; hashes are merged.
      def [](key)
        values = LEVELS.filter_map { |level| @levels[level].key?(key) ? [@levels[level][key]] : nil }
        merged = values.inject { |one, other| [Mixin::DeepMerge.hash_only_merge(one[0], other[0])] }
        ImmutableMash.new("it" => merged[0])["it"] if merged
      end

      def attributes
        keys = LEVELS.flat_map { |level| @levels[level].keys }.uniq
        ImmutableMash.new(keys.to_h { |key| [key, self[key]] })
      end

      def environment = @chef_environment
      def policy_name = @policy["policy_name"]
      def policy_group = @policy["policy_group"]
      def tags = Array(self["tags"])
      def roles = Array(self["roles"])
      def role?(role) = roles.include?(role.to_s)
      def recipe?(recipe) = run_list.include?(recipe) || Array(self["recipes"]).include?(recipe)
      def each(&block) = attributes.each(&block)

      def to_hash
        about = { "chef_type" => "node", "name" => name, "chef_environment" => chef_environment }
        about["recipe"] = run_list.recipe_names unless run_list.recipe_names.empty?
        about["role"] = run_list.role_names unless run_list.role_names.empty?
        attributes.to_hash.merge(about, "run_list" => run_list.for_json)
      end

      def to_h = attributes.to_h
      def class = Node
      def to_json(*options) = JSONCompat.to_json(to_hash, *options)
      def node = self
      def to_s = "node[#{name}]"
      def inspect = "<Chef::Node name:#{name}>"
      def ==(other) = other.respond_to?(:name) && name == other.name
      def <=>(other) = name <=> other.name
      def is_a?(type) = type == Node || super
      alias kind_of? is_a?

      def method_missing(name, ...)
        ImmutableMash.public_method_defined?(name) ? attributes.public_send(name, ...) : super
      end

      def respond_to_missing?(name, all = false) = ImmutableMash.public_method_defined?(name) || super
    end

    # Returns the node with this name: a saved node, or the policy's own node.
    def self.load(name)
      found = Data.found { Wrun::Bridge.call("data.search", "node", "name:#{name}") }
      return Saved.new(found.first) unless found.empty?
      # The policy's own node may be missing from the search.
      return instance if name == instance.name

      raise Net::HTTPServerException.new("404 \"Not Found\"", Data::Response.new("404", "Not Found", "node #{name}"))
    end

    def self.list(*)
      found = Data.found { Wrun::Bridge.call("data.search", "node", "*:*") }
      found.to_h { |it| [it["name"], "nodes/#{it["name"]}"] }
    end

    def self.from_hash(data) = Saved.new(data)
  end

  module Search
    class Query
      ROWS = 1000
      OPTIONS = %i[query rows start filter_result fuzz].freeze

      # Returns the results, the offset and the total number. With a block, yields each result and returns true.
      def search(type, query = "*:*", *arguments, &block)
        unless type.is_a?(String) || type.is_a?(Symbol)
          raise Exceptions::InvalidSearchQuery,
                "Invalid search object type #{type.inspect} (#{type.class}), must be a String or Symbol." \
                "Usage: search(:node, QUERY[, OPTIONAL_ARGS])        `knife search environment QUERY (options)`"
        end

        options = options_of(arguments)
        query = widened(query) if options[:fuzz] && type.to_sym == :node
        found = find(type.to_s, query)
        start = (options[:start] || 0).to_i
        # Like Chef's local mode, it counts `rows` from the first result. So a second page is empty.
        rows = found[start..((options[:rows] || ROWS).to_i - 1)] || []
        wanted = options[:filter_result]
        rows = rows.map { |row| wanted ? filtered(type.to_s, row, wanted) : object(type.to_s, row) }
        return [rows, start, found.size] unless block

        rows.each(&block)
        true
      end

      private

      def find(type, query) = Data.found { Wrun::Bridge.call("data.search", type, query.to_s) }

      def options_of(arguments)
        options = arguments.first
        return { start: arguments[0], rows: arguments[1], filter_result: arguments[2] }.compact unless options.is_a?(Hash)

        unknown = options.keys - OPTIONS
        return options if unknown.empty?

        raise ArgumentError, "unknown keyword#{"s" if unknown.size > 1}: #{unknown.map(&:inspect).join(", ")}"
      end

      def widened(query)
        return query if query.include?(":")

        %w[tags roles fqdn addresses policy_name policy_group].map { |field| "#{field}:*#{query}*" }.join(" OR ")
      end

      def object(type, row)
        case type
        when "node" then Node::Saved.new(row)
        when "role" then Role.from_hash(row)
        when "environment" then Environment.from_hash(row)
        when "client" then ChefUtils::Mash.new(row)
        else DataBagItem.from_hash(row).tap { |item| item.data_bag(type) }
        end
      end

      # Returns only the requested values. `wanted` maps new names to paths. The names become texts.
      def filtered(type, row, wanted)
        refuse(wanted) unless wanted.respond_to?(:each_pair) && wanted.values.all?(Array)

        source = type == "node" ? Node::Saved.new(row).to_hash : row["raw_data"] || row
        wanted.to_h { |name, path| [name.to_s, path.empty? ? nil : path_in(source, path)] }
      end

      def path_in(source, path)
        path.inject(source) do |at, key|
          case at
          when Hash then at[key.to_s]
          when Array then at[key] if key.is_a?(Integer)
          end
        end
      end

      # Raises the internal error of Chef's server for a filter without paths.
      def refuse(wanted)
        message = "Internal Server Error"
        answer = Data::Response.new("500", message, "filter_result needs lists of keys, not #{wanted.inspect}")
        raise Net::HTTPFatalError.new("500 #{message.inspect}", answer)
      end
    end
  end
end
