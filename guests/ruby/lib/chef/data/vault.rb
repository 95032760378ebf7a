# frozen_string_literal: true

# Reads vaults: encrypted data bag items. Another item has the secret, encrypted for the key of each client that may read the
# vault. A policy that may read the client's private key can open the vault. Operators create and change vaults.

require "openssl"

class ChefVault
  VERSION = "4.1.11"

  class Log
    extend Mixlib::Log
  end

  class Exceptions < RuntimeError
    %i[
      SecretDecryption NoKeysDefined ItemNotEncrypted KeysActionNotValue AdminNotFound ClientNotFound KeysNotFound ItemNotFound
      ItemAlreadyExists SearchNotFound IdMismatch V1Format
    ].each { |name| const_set(name, Class.new(self)) }
  end

  # Runs the block, and raises chef-vault's own exception if the data bag item is missing.
  def self.found(vault, name, missing)
    yield
  rescue Net::HTTPServerException => error
    raise error unless error.response.code == "404"

    raise missing, "#{vault}/#{name} could not be found"
  rescue Chef::Exceptions::ValidationFailed
    raise missing, "#{vault}/#{name} could not be found"
  end

  # The encrypted secrets of a vault: one value for each client, in the item `NAME_keys` or in separate items.
  class ItemKeys < Chef::DataBagItem
    OPTIONS = %w[id admins clients search_query mode].freeze

    def self.load(vault, name)
      ChefVault.found(vault, name, Exceptions::KeysNotFound) { super }
    end

    def clients = @raw_data["clients"]
    def admins = @raw_data["admins"]
    def search_query(query = nil) = query ? @raw_data["search_query"] = query : @raw_data["search_query"]
    def mode(mode = nil) = mode ? @raw_data["mode"] = mode : @raw_data["mode"]
    def sparse? = @raw_data["mode"] == "sparse"
    def include?(name) = !!self[name]

    def [](name)
      return @raw_data[name] if OPTIONS.include?(name) || !sparse?

      alone(name)&.[](name) || @raw_data[name]
    end

    private

    def alone(name)
      Chef::DataBagItem.load(data_bag, "#{@raw_data["id"].delete_suffix("_keys")}_key_#{name}")
    rescue Net::HTTPServerException => error
      raise error unless error.response.code == "404"
    end
  end

  class Item < Chef::DataBagItem
    attr_accessor :keys, :node_name, :client_key_path

    class << self
      # Opens a vault for a client. The defaults are this node and the configured key.
      def load(vault, name, node_name: Chef::Config[:node_name], client_key_path: Chef::Config[:client_key])
        item = new(vault, name, node_name: node_name, client_key_path: client_key_path)
        item.load_keys(vault, "#{name}_keys")
        ChefVault.found(vault, name, Exceptions::ItemNotFound) do
          item.raw_data = Chef::EncryptedDataBagItem.load(vault, name, item.secret).to_hash
        end
        item
      end

      def vault?(vault, name) = data_bag_item_type(vault, name) == :vault

      # Returns `:normal`, `:encrypted` or `:vault`. A vault is an encrypted item with an item of keys beside it.
      def data_bag_item_type(vault, name)
        values = Chef::DataBagItem.load(vault, name).raw_data.values
        return :normal if values.none? { |value| value.is_a?(Hash) && value.key?("encrypted_data") }

        Chef::DataBag.load(vault).key?("#{name}_keys") ? :vault : :encrypted
      end
    end

    def initialize(vault, name, node_name: Chef::Config[:node_name], client_key_path: Chef::Config[:client_key])
      super()
      @data_bag = vault
      @raw_data["id"] = name
      @node_name = node_name
      @client_key_path = client_key_path
    end

    def load_keys(vault, name)
      @keys = ItemKeys.load(vault, name)
      @secret = secret
    end

    # Returns the decrypted secret of the item.
    def secret
      encrypted = @keys[@node_name] or refuse("is not encrypted with your public key.  Contact an administrator of the vault item to encrypt for you!")
      unless @client_key_path
        refuse("is encrypted for #{@node_name}, and there is no private key: name its file with Chef::Config[:client_key] or client_key_path")
      end

      OpenSSL::PKey::RSA.new(::File.read(@client_key_path)).private_decrypt(encrypted.unpack1("m"))
    rescue OpenSSL::PKey::RSAError
      refuse("is encrypted for you, but your private key failed to decrypt the contents.  (if you regenerated your client key, have an administrator of the vault run 'knife vault refresh')")
    end

    def get_clients = @keys.clients # rubocop:disable Naming/AccessorMethodName -- chef-vault's name
    def get_admins = @keys.admins # rubocop:disable Naming/AccessorMethodName -- chef-vault's name
    def raw_keys = @raw_data.keys
    def search(query = nil) = @keys.search_query(query)
    def remove(key) = @raw_data.delete(key)

    private

    def refuse(why) = raise(Exceptions::SecretDecryption, "#{data_bag}/#{id} #{why}")
  end
end
