# frozen_string_literal: true

# Objects of attributes in which the machine's facts, other policies' attributes or hidden parts stand. What the policy may
# see is in them as in any other object. The host hears which members a cookbook asks for: it records that, and it refuses
# where the machine has a value that the policy may not see.

class Chef
  class Node
    module Watched
      # What goes through all members, as far as Hash does it without `each`.
      WHOLE = %i[
        each each_pair each_key each_value keys values to_a to_h to_hash select filter reject filter_map any? count size
        length empty? inspect to_s == eql? < <= > >= merge dup invert transform_values transform_keys except compact key
        value? has_value? assoc rassoc to_json to_yaml symbolize_keys
      ].freeze

      # The object that a view has at a path.
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

      # A cookbook reads a member: raises where the policy may not see it. Returns an object whose members can be asked for
      # in its place.
      def ask(key)
        name = convert_key(key)
        return @concealed&.[](name) unless name.is_a?(String) && !@asked[name]

        path = @path + [name]
        kind, = Node.keep(@view, path)
        if kind == "hidden"
          # What the cookbook put there itself is its own.
          conceal(name, path) unless regular_key?(name)
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

        (@concealed ||= {})[name] = Concealed.at(@view, path)
      end

      # A cookbook asks whether a member is there.
      def look(key)
        name = convert_key(key)
        return if !name.is_a?(String) || @asked.key?(name)

        @asked[name] = false
        Node.look(@view, @path + [name])
      end

      def ask_for_all
        return if @asked_for_all && !is_a?(Concealed)

        @asked_for_all = true
        Node.read(@view, @path, Wrun::Sources.origin)
      end
    end
  end
end
