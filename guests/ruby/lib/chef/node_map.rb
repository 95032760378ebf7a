# frozen_string_literal: true

# Stores classes by name and by filters on the node. Of several matching classes, the one with more specific filters wins, and
# the later one if they are equal.

class Chef
  class NodeMap
    FILTERS = %i[platform platform_version platform_family os override].freeze
    OVERRIDDEN = "%<Type>s %<key>s built into Chef Infra Client is being overridden by the %<type>s from a cookbook. " \
                 "Please upgrade your cookbook or remove the cookbook from your run_list."

    GOES_FIRST = "%<Type>s %<key>s from a cookbook is declared without a block: the one built into Chef Infra Client goes before it."
    ALWAYS = ->(_node) { true }

    Matcher = Struct.new(:type, :filters, :block, :builtin)

    def initialize(kind)
      @kind = kind
      @map = {}
      @found = {}
      @locked = false
    end

    def set(key, type, chef_version: nil, target_mode: nil, **filters, &block) # rubocop:disable Lint/UnusedMethodArgument
      return self if chef_version && !version_fits?(chef_version)

      matchers = @map[key] ||= []
      warn_of_override(key, matchers, block) if @locked
      entry = Matcher.new(type, filters.slice(*FILTERS).compact, block, !@locked)
      at = matchers.index { |other| compare(entry, other) <= 0 }
      at ? matchers.insert(at, entry) : matchers << entry
      @found.clear
      Chef.wrun_types_version += 1
      self
    end

    def get(node, key)
      found = @found[key] unless node.nil?
      return found if found

      matchers = @map[key] or return
      return matchers.find { |matcher| fits?(node, matcher) }&.type if matchers.any?(&:block)

      return matchers.find { |matcher| fits?(nil, matcher) }&.type if node.nil?

      @found.fetch(key) { @found[key] = matchers.find { |matcher| fits?(node, matcher) }&.type }
    end

    def list(node, key) = @map.fetch(key, []).select { |matcher| fits?(node, matcher) }.map(&:type).uniq
    def names = @map.keys

    # Ends the registration of built-in classes. Later classes come from cookbooks.
    def lock!
      @locked = true
    end

    # Moves some classes of a name to the front, in the given order. Ignores classes that do not belong to the name.
    def prefer(key, types, **filters, &block)
      matchers = @map[key] || []
      there = types.select { |type| matchers.any? { |matcher| matcher.type == type } }
      first = there.map { |type| Matcher.new(type, filters.slice(*FILTERS).compact, block, false) }
      @map[key] = first + matchers
      @found.clear
      Chef.wrun_types_version += 1
    end

    # Gives the present classes of some names precedence over later classes without a block. They behave as if declared with a
    # block that is always true.
    def precede(names)
      names.each { |name| @map.fetch(name, []).each { |matcher| matcher.block ||= ALWAYS } }
      @found.clear
    end

    def delete_class(type)
      @found.clear
      @map.each_value { |matchers| matchers.reject! { |matcher| matcher.type == type } }
    end

    private

    # Logs Chef's warning about two classes for one name. Chef logs it no matter which class wins.
    def warn_of_override(key, matchers, block)
      return unless matchers.any?(&:builtin)

      words = { Type: @kind.capitalize, type: @kind, key: key }
      Chef::Log.warn(format(OVERRIDDEN, **words))
      Chef::Log.warn(format(GOES_FIRST, **words)) if block.nil? && matchers.any? { |matcher| matcher.block.equal?(ALWAYS) }
    end

    def fits?(node, matcher)
      return true if node.nil? || (matcher.filters.empty? && matcher.block.nil?)

      filters = matcher.filters
      in_list?(node, filters, :os) && in_list?(node, filters, :platform_family) && in_list?(node, filters, :platform) &&
        in_version?(node, filters) && (matcher.block.nil? || matcher.block.call(node))
    end

    # Matches a list such as `["debian", "!ubuntu"]`, `:all`, or a group of families with a predicate in chef-utils
    # (`"rpm_based"`).
    def in_list?(node, filters, name)
      return true unless filters[name]

      value = node[name.name]
      refused, allowed = Array(filters[name]).partition { |one| one.is_a?(String) && one.start_with?("!") }
      return false if refused.any? { |one| one[1..] == value || family?(node, name, one[1..]) }

      allowed.empty? || allowed.any? { |one| one == :all || one.to_s == value || family?(node, name, one) }
    end

    def family?(node, name, question)
      return false unless name == :platform_family && defined?(ChefUtils::DSL::PlatformFamily)

      helper = ChefUtils::DSL::PlatformFamily
      helper.respond_to?(:"#{question}?") && helper.public_send(:"#{question}?", node)
    end

    def in_version?(node, filters)
      wanted = Array(filters[:platform_version])
      wanted.empty? || wanted.any? { |one| Gem::Requirement.new(one).satisfied_by?(Gem::Version.new(node["platform_version"])) }
    end

    def version_fits?(constraint)
      Gem::Requirement.new(*Array(constraint)).satisfied_by?(Gem::Version.new(Chef::VERSION.to_s))
    end

    # Returns a negative number if the first is more specific.
    def compare(one, other)
      by_block = one.block ? (other.block ? 0 : -1) : (other.block ? 1 : 0)
      return by_block unless by_block.zero?

      %i[platform_version platform platform_family os override].each do |name|
        found = compare_filters(one.filters[name], other.filters[name])
        return found unless found.zero?
      end
      0
    end

    def compare_filters(one, other)
      return (one ? 0 : 1) + (other ? 0 : -1) unless one && other

      negated = [one, other].map { |list| Array(list).any? { |word| word.is_a?(String) && word.start_with?("!") } }
      return negated[0] ? 1 : -1 unless negated[0] == negated[1]

      (one <=> other) || 0
    end
  end
end
