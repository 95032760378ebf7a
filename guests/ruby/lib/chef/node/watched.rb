# frozen_string_literal: true

# Watches reads of objects that contain facts of the machine, attributes of others or hidden parts. The object contains all
# members that the policy may read. Ruby reports each requested member to the host. The host records the read, and refuses it if
# the machine or the operator has a value there that the policy may not read.

class Chef
  class Node
    module Watched
      # The methods of Hash that use all members without `each`.
      WHOLE = %i[
        each each_pair each_key each_value keys values to_a to_h to_hash select filter reject filter_map any? count size
        length empty? inspect to_s == eql? < <= > >= merge dup invert transform_values transform_keys except compact key
        value? has_value? assoc rassoc to_json to_yaml symbolize_keys
      ].freeze

      # Starts to watch the object at a path of a view.
      def watch(view, path)
        @view = view
        @path = path
        @asked = {}
        self
      end

      def [](key)
        ask(key) || super
      end

      def fetch(key, ...)
        ask(key) || super
      end

      def fetch_values(*keys, &block)
        keys.each { |key| ask(key)&.demand }
        super(*keys.map { |key| convert_key(key) }, &block)
      end

      # A written member is not the one that the host was asked for.
      def []=(key, value)
        super
        name = convert_key(key)
        @asked.delete(name)
        @concealed&.delete(name)
      end

      def store(key, value) = self[key] = value

      def slice(*keys)
        keys.each { |key| ask(key)&.demand }
        super(*keys.map { |key| convert_key(key) })
      end

      def key?(key)
        look(key)
        super
      end
      alias has_key? key?
      alias include? key?
      alias member? key?
      alias attribute? key?

      WHOLE.each do |name|
        define_method(name) do |*arguments, **options, &block|
          ask_for_all
          super(*arguments, **options, &block)
        end
      end

      # Reports a cookbook's read of a member. Raises an error if the policy may not read it. For a hidden object, returns a
      # `Concealed` to use instead of the member, and nil otherwise.
      def ask(key)
        name = convert_key(key)
        return @concealed&.[](name) unless name.is_a?(String) && !@asked[name]

        path = @path + [name]
        kind, = Node.keep(@view, path)
        if kind == "hidden"
          # The cookbook may read a fact that it wrote itself.
          conceal(name, path) unless regular_key?(name) && Node.wrote_automatic?(path.first)
        elsif kind.nil?
          Node.look(@view, path)
        elsif kind == "open"
          member = regular_reader(name)
          member.extend(Watched).watch(@view, path) if member.is_a?(ChefUtils::Mash) && !member.is_a?(Watched)
        end
        @asked[name] = true
        @concealed&.[](name)
      end

      private

      def conceal(name, path)
        return Node.read(@view, path, Wrun::Sources.origin) unless Node.conceals?(@view, path)

        (@concealed ||= {})[name] = (@view == "normal" ? ConcealedLevel : Concealed).at(@view, path)
      end

      # Reports that a cookbook tests whether a member exists.
      def look(key)
        name = convert_key(key)
        return if !name.is_a?(String) || @asked.key?(name)

        @asked[name] = false
        Node.look(@view, @path + [name])
      end

      def ask_for_all
        return if @asked_for_all && !(Concealed === self || ConcealedLevel === self)

        @asked_for_all = true
        Node.read(@view, @path, Wrun::Sources.origin)
      end
    end
  end
end
