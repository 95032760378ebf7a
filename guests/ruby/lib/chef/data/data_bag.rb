# frozen_string_literal: true

# Implements data bags and their items. Operators write them, and cookbooks read them through the host.

require_relative "../mixin/params_validate"

class Chef
  # Reads data through the host.
  module Data
    # A response of Chef's server. Only its body names the missing object or the mistake.
    Response = Struct.new(:code, :message, :missing) do
      def body = JSON.generate({ "error" => [missing] })
      def [](_) = nil
    end

    # Runs the block and turns the host's errors into those of Chef's server. A missing object becomes a 404.
    def self.found
      yield
    rescue Wrun::Refused => error
      case error.reason
      when "not-found"
        raise Net::HTTPServerException.new("404 \"Not Found\"", Response.new("404", "Not Found", error.message))
      when "denied" then raise Wrun::Denied, error.message
      when "bad-query"
        raise Net::HTTPServerException.new("400 \"Bad Request\"", Response.new("400", "Bad Request", error.message))
      else raise Exceptions::JSON::ParseError, error.message
      end
    end
  end

  class DataBag
    VALID_NAME = /^[\.\-[:alnum:]_]+$/
    RESERVED_NAMES = /^(node|role|environment|client)$/

    def self.validate_name!(name)
      unless VALID_NAME.match?(name)
        raise Exceptions::InvalidDataBagName,
              "DataBags must have a name matching #{VALID_NAME.inspect}, you gave #{name.inspect}"
      end
      return unless RESERVED_NAMES.match?(name)

      raise Exceptions::InvalidDataBagName,
            "DataBags may not have a name matching #{RESERVED_NAMES.inspect}, you gave #{name.inspect}"
    end

    # Returns the names of all data bags. With `inflate`, it loads their lists of items too.
    def self.list(inflate = false)
      names = Data.found { Wrun::Bridge.call("data.bags") }
      names.to_h { |name| [name, inflate ? load(name) : "data/#{name}"] }
    end

    # Returns the names of a bag's items as keys. The values imitate the addresses that Chef's server returns.
    def self.load(name)
      ids = Data.found { Wrun::Bridge.call("data.bag", name.to_s) }
      ids.to_h { |id| [id, "data/#{name}/#{id}"] }
    end

    def name(text = nil) = text ? @name = text : @name
    def to_s = "data_bag[#{@name}]"

    def save = raise(NotImplementedError, "data bags are the operators': a policy cannot save one")
    alias create save
    alias destroy save
  end

  class DataBagItem
    include Mixin::ParamsValidate

    VALID_ID = /^[\.\-[:alnum:]_]+$/

    attr_reader :raw_data

    def self.validate_id!(id)
      return if (id.is_a?(String) || id.is_a?(Symbol)) && VALID_ID.match?(id)

      raise Exceptions::InvalidDataBagItemID,
            "Data Bag items must have an id matching #{VALID_ID.inspect}, you gave: #{id.inspect}"
    end

    def self.load(bag, id)
      from_hash(Data.found { Wrun::Bridge.call("data.bag-item", bag.to_s, id.to_s) }).tap { |item| item.data_bag(bag) }
    end

    def self.from_hash(data)
      new.tap do |item|
        item.data_bag(data["data_bag"]) if data["data_bag"]
        item.raw_data = data["raw_data"] || data.except("chef_type", "json_class", "data_bag")
      end
    end

    def initialize(**)
      @raw_data = ChefUtils::Mash.new
    end

    def raw_data=(data)
      unless data.respond_to?(:[]) && data.respond_to?(:keys)
        raise Exceptions::ValidationFailed, "Data Bag Items must contain a Hash or Mash!"
      end

      data = ChefUtils::Mash.new(data)
      self.class.validate_id!(data["id"])
      @raw_data = data
    end

    def data_bag(name = nil) = set_or_return(:data_bag, name, regex: /^[\-[:alnum:]_]+$/)
    def id = @raw_data["id"]
    def name = object_name

    def object_name
      raise Exceptions::ValidationFailed, "You must have an 'id' or :id key in the raw data" unless raw_data.key?("id")
      raise Exceptions::ValidationFailed, "You must have declared what bag this item belongs to!" unless data_bag

      self.class.object_name(data_bag, id)
    end

    def self.object_name(bag, id) = "data_bag_item_#{bag}_#{id}"
    def to_h = @raw_data.dup.merge("chef_type" => "data_bag_item", "data_bag" => data_bag.to_s)
    alias to_hash to_h

    def to_json(*options)
      JSONCompat.to_json({ "name" => object_name, "json_class" => self.class.name, "chef_type" => "data_bag_item",
                           "data_bag" => data_bag, "raw_data" => @raw_data }, *options)
    end

    def ==(other) = other.respond_to?(:to_h) && other.respond_to?(:data_bag) && to_h == other.to_h
    def to_s = "data_bag_item[#{id}]"
    def inspect = "data_bag_item[#{data_bag.inspect}, #{id.inspect}, #{raw_data.inspect}]"

    def save(_ = nil)
      return self if Config[:why_run]

      raise NotImplementedError, "data bags are the operators': a policy cannot save #{self}"
    end
    alias create save
    alias destroy save

    # Passes other methods on to the item's hash.
    def method_missing(name, ...)
      @raw_data.public_send(name, ...)
    rescue StandardError
      # After any error, Chef reports an undefined method.
      super
    end

    def respond_to_missing?(name, all = false) = @raw_data.respond_to?(name, all) || super
  end
end
