# frozen_string_literal: true

# Defines the methods `data_bag`, `data_bag_item`, `search` and `tagged?`, and those for tags and vaults.

class Chef
  module DSL
    module DataQuery
      include EncryptedDataBagItem::CheckEncrypted

      def search(*arguments, &block)
        return Search::Query.new.search(*arguments, &block) if block || arguments.size >= 4

        [].tap { |results| Search::Query.new.search(*arguments) { |one| results << one } }
      end

      def data_bag(bag)
        DataBag.validate_name!(bag.to_s)
        DataBag.load(bag).keys
      rescue StandardError
        Log.error("Failed to list data bag items in data bag: #{bag.inspect}")
        raise
      end

      def data_bag_item(bag, item, secret = nil)
        DataBag.validate_name!(bag.to_s)
        DataBagItem.validate_id!(item)
        found = DataBagItem.load(bag, item)
        return found unless encrypted?(found.raw_data)

        EncryptedDataBagItem.new(found.raw_data, secret || EncryptedDataBagItem.load_secret)
      rescue StandardError
        Log.error("Failed to load data bag item: #{bag.inspect} #{item.inspect}")
        raise
      end

      def tagged?(*tags) = tags.all? { |tag| run_context.node.tags.include?(tag) }
    end

    # Methods for recipes that change the node's tags.
    module Tags
      def tag(*names) = run_context.node.tag(*names)
      def untag(*names) = run_context.node.untag(*names)
    end

    # Methods of chef-vault. They read a plain item only if `node['chef-vault']['databag_fallback']` is true.
    module ChefVault
      def chef_vault_item(bag, id)
        return ::ChefVault::Item.load(bag, id) if ::ChefVault::Item.vault?(bag, id)
        return data_bag_item(bag, id) if node.read("chef-vault", "databag_fallback")

        raise "Trying to load a regular data bag item #{id} from #{bag}, and databag_fallback is disabled"
      end

      # Returns the names of a vault's items, without the items of keys.
      def chef_vault(bag)
        raise "'#{bag}' is not a vault" unless DataBag.list.include?(bag)

        data_bag(bag).grep_v(/_keys$/)
      end

      def chef_vault_item_for_environment(bag, id) = chef_vault_item(bag, id)[node.chef_environment] || {}
    end
  end
end
