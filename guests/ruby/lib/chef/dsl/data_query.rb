# frozen_string_literal: true

# `data_bag`, `data_bag_item`, `search`, `tagged?`.

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

    # Tags of the node, in recipes.
    module Tags
      def tag(*names) = run_context.node.tag(*names)
      def untag(*names) = run_context.node.untag(*names)
    end

    # chef-vault's words over plain data bags, which is what Chef falls back to.
    module ChefVault
      def chef_vault_item(bag, id) = data_bag_item(bag, id)
      def chef_vault(bag) = data_bag(bag)
      def chef_vault_item_for_environment(bag, id) = data_bag_item(bag, id)[node.chef_environment] || {}
    end
  end
end
