# frozen_string_literal: true

# A run list of the node or of a role.

class Chef
  class RunList
    include Enumerable

    # One entry: a role, or a recipe with an optional version.
    class RunListItem
      RECIPE = /\Arecipe\[([^\]@]+)(?:@([0-9]+\.[0-9]+(?:\.[0-9]+)?))?\]\z/
      ROLE = /\Arole\[([^\]]+)\]\z/
      BARE = /\A([^\[\]]*?)(?:@([0-9]+\.[0-9]+(?:\.[0-9]+)?))?\z/

      attr_reader :name, :type, :version

      def initialize(item)
        case item
        when String then take_text(item)
        when Hash then take_parts(item.transform_keys(&:to_s))
        else refuse(item, "a Hash or String")
        end
      end

      def role? = type == :role
      def recipe? = type == :recipe
      def to_s = "#{type}[#{name}#{"@#{version}" if version}]"
      def to_json(*options) = to_s.to_json(*options)
      def hash = to_s.hash
      def ==(other) = other.is_a?(String) ? to_s == other : other.respond_to?(:type) && to_s == other.to_s
      alias eql? ==

      private

      def take_text(text)
        if (found = RECIPE.match(text) || BARE.match(text)) then @type, @name, @version = :recipe, *found.captures
        elsif (found = ROLE.match(text)) then @type, @name = :role, found[1]
        else refuse(text, "recipe[] or role[]")
        end
      end

      def take_parts(parts)
        unless parts.key?("type") && parts.key?("name")
          raise ArgumentError, "Initializing a #{self.class} from a hash requires that it have a 'type' and 'name' key"
        end

        @type = parts["type"].to_sym
        @name, @version = parts.values_at("name", "version")
      end

      def refuse(item, wanted)
        raise ArgumentError, "Unable to create #{self.class} from #{item.class}:#{item.inspect}: must be #{wanted}"
      end
    end

    attr_reader :run_list_items
    alias run_list run_list_items

    def initialize(*items)
      @run_list_items = []
      items.flatten.each { |item| self << item }
    end

    # Appends an item. An item that is already in the list is ignored.
    def <<(item)
      item = item.is_a?(RunListItem) ? item : RunListItem.new(item)
      @run_list_items << item unless @run_list_items.include?(item)
      self
    end
    alias push <<
    alias add <<

    def reset!(*items)
      @run_list_items.clear
      items.flatten.each { |item| self << item }
      self
    end

    def each(&) = @run_list_items.each(&)
    def each_index(&) = @run_list_items.each_index(&)
    def [](index) = @run_list_items[index]
    def empty? = @run_list_items.empty?

    # Returns true if the list contains the item. A bare name means a recipe.
    def include?(item) = @run_list_items.include?(RunListItem.new(item))
    def recipe_names = @run_list_items.select(&:recipe?).map(&:name)
    def role_names = @run_list_items.select(&:role?).map(&:name)
    alias recipes recipe_names
    alias roles role_names
    def remove(item) = @run_list_items.delete(RunListItem.new(item)).then { self }
    def ==(other) = to_a.map(&:to_s) == Array(other.respond_to?(:run_list_items) ? other.run_list_items : other).map(&:to_s)
    def for_json = to_a.map(&:to_s)
    def to_json(*options) = for_json.to_json(*options)
    def to_s = @run_list_items.join(", ")
  end
end
