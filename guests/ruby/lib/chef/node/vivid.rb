# frozen_string_literal: true

# One attribute level that cookbooks can write to. Each hash and array knows its path in the level, and sends each change to the
# host.

class Chef
  class Node
    # Stores the path of a part of a level, and sends changes of the part to the host.
    module Placed
      attr_reader :level, :place

      def put_at(level, place)
        @level = level
        @place = place
        @generation = Node.generation
        self
      end

      private

      # Discards the cached level if this object is older than it. The write through the old object has made the newer copy
      # outdated.
      def note_change
        Node.forget_level(@level) unless @generation == Node.generation
      end

      # Wraps a value for its place below `key` in this level.
      def placed(value, key)
        case value
        when Hash then VividMash.at(@level, @place + [key.to_s]).take_over_values(value)
        when Array then AttrArray.at(@level, @place + [key.to_s]).take_over_values(value)
        else value
        end
      end

      def send_write(path, value)
        Writes.write(@level, path, value)
        note_change
      end
    end

    # Sends writes to the host.
    module Writes
      class << self
        def write(level, path, value, how = "node.write")
          return Node.wrote_automatic(path.first) if level == "automatic"

          json = Values.to_json_value(value, path)
          done = refused_as_chef_says { Wrun::Bridge.call(how, level, path, json, Wrun::Sources.origin) }
          Node.forget_merged(path)
          done
        end

        def unlink(level, path)
          return Node.wrote_automatic(path.first) if level == "automatic"

          refused_as_chef_says { Wrun::Bridge.call("node.unlink", level, path, false, Wrun::Sources.origin) }
          Node.forget_merged(path.first(1))
        end

        # Raises refusals of the host as Chef's exceptions.
        def refused_as_chef_says
          yield
        rescue Wrun::Refused => error
          case error.reason
          when "denied" then raise Wrun::Denied, error.message
          when "type-mismatch" then raise Exceptions::AttributeTypeMismatch
          else raise ArgumentError, error.message
          end
        end
      end
    end

    class VividMash < ChefUtils::Mash
      include CommonAPI
      include Placed

      def self.at(level, place) = allocate.put_at(level, place)

      # Fills the hash with the host's values, without writing them back.
      def take_over(json)
        json.each { |key, value| regular_writer(Values.key(key, @place), Values.vivid(value, @level, @place + [key])) }
        self
      end

      # Fills the hash with Ruby values that the host already has.
      def take_over_values(hash)
        hash.each { |key, value| regular_writer(convert_key(key), placed(value, key)) }
        self
      end

      # Returns a key's value. Creates an empty hash if the key is absent.
      def [](key)
        return regular_reader(convert_key(key)) if key?(key)

        make(convert_key(key))
      end

      def []=(key, value)
        key = convert_key(key)
        Values.keep_key(@place + [key.to_s], key)
        send_write(@place + [key.to_s], value)
        regular_writer(key, placed(value, key))
      end
      alias store []=

      # Creates an empty hash. The host leaves out one that the policy may not write. The write below it is decided by itself.
      def make(key)
        place = @place + [key.to_s]
        Values.keep_key(place, key)
        Writes.write(@level, place, {}, "node.write-unless")
        note_change
        regular_writer(key, placed({}, key))
      end
      private :make

      def delete(key, &block)
        key = convert_key(key)
        return block&.call(key) unless key?(key)

        Writes.unlink(@level, @place + [key.to_s])
        note_change
        regular_delete(key)
      end

      def update(*others, &block)
        others.each do |other|
          other.each_pair do |key, value|
            key = convert_key(key)
            value = block.call(key, regular_reader(key), value) if block && key?(key)
            self[key] = value
          end
        end
        self
      end
      alias merge! update

      def clear = keys.each { |key| delete(key) }.then { self }
      def replace(other) = clear.update(other)
      def shift = empty? ? nil : [first[0], delete(first[0])]
      def delete_if(&block) = select(&block).each_key { |key| delete(key) }.then { self }
      def keep_if(&block) = reject(&block).each_key { |key| delete(key) }.then { self }

      # These methods return nil if they change nothing.
      def reject!(&block) = (size_before = size) && delete_if(&block).size == size_before ? nil : self
      def select!(&block) = (size_before = size) && keep_if(&block).size == size_before ? nil : self
      alias filter! select!
      def compact! = reject! { |_, value| value.nil? }
      def except!(*gone) = gone.each { |key| delete(key) }.then { self }
      def transform_values!(&block) = replace(to_h.transform_values(&block))
      def transform_keys!(*rest, &block) = replace(to_h.transform_keys(*rest, &block))

      alias attribute? key?
      def internal_get(key) = regular_reader(key)
      def internal_set(key, value) = self[key] = value
      def dup = ChefUtils::Mash.new(self)
      def to_yaml(*options) = to_h.to_yaml(*options)
    end

    # An array of one level. A change sends the whole array to the host. Only elements added at the end are sent alone.
    class AttrArray < Array
      include Placed

      def self.at(level, place) = allocate.put_at(level, place)

      alias take replace
      private :take

      # Fills the array with the host's values, without writing them back.
      def take_over(json)
        take(json.each_with_index.map { |one, index| Values.vivid(one, @level, @place + [index.to_s]) })
      end

      # Fills the array with Ruby values that the host already has.
      def take_over_values(source)
        take(source.each_with_index.map { |one, index| placed(one, index) })
      end

      %i[
        []= clear collect! compact! concat delete delete_at delete_if fill filter! flatten! insert keep_if map! pop
        prepend reject! replace reverse! rotate! select! shift shuffle! slice! sort! sort_by! uniq! unshift
      ].each do |name|
        define_method(name) do |*arguments, **options, &block|
          done = super(*arguments, **options, &block)
          send_write(@place, self)
          take_over_values(Array.new(self))
          done
        end
      end

      def push(*values)
        values.each do |value|
          send_write(@place + [size.to_s], value)
          add(placed(value, size))
        end
        self
      end
      alias append push

      alias add <<
      private :add
      def <<(value) = push(value)

      def dup = Array.new(map { |one| Immutable.copy(one) })
      def to_yaml(*options) = to_a.to_yaml(*options)
      def to_a = Array.new(self)
    end

    # Collects the path in `node.default_unless['a']['b'] = 1` or `node.force_default!['a'] = 1`. The assignment calls the block
    # with path and value.
    class Unchain
      def initialize(path = [], &finish)
        @path = path
        @finish = finish
      end

      def [](key) = Unchain.new(@path + [key], &@finish)

      def []=(key, value)
        @finish.call(@path + [key], value)
      end
    end
  end
end
