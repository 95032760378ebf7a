# frozen_string_literal: true

# What has been read of the node's attributes. Nobody else writes while this guest has the turn; after it was away the host's
# counter of changes says whether what is remembered is still true.

class Chef
  class Node
    @merged = {}
    @stale = {}
    @levels = {}
    @version = nil
    @turn = nil
    @wrote = false
    @automatic_written = {}

    @generation = 0

    class << self
      # Grows when what has been read of the levels is forgotten.
      attr_reader :generation

      # A top-level attribute of the merged view.
      def merged(key)
        look_whether_old unless @turn == Wrun::Turns.passed
        refresh(key) if @stale.key?(key)
        @merged.fetch(key) { @merged[key] = read_merged(key) }
      end

      # One level's own component.
      def level(name)
        look_whether_old unless @turn == Wrun::Turns.passed
        @levels[name] ||= VividMash.at(name, []).take_over(read(name, []) || {})
      end

      # A value of any view, for looking at only.
      def view(name, path)
        Values.immutable(read(name, path), path)
      end

      # This guest changed something at a path.
      def forget_merged(path)
        @wrote = true
        key, child = path
        return unless @merged.key?(key)

        known = @merged[key]
        # Where only a part is old, only that part is read again. What is new there would not stand in its place, though.
        if child && known.instance_of?(ImmutableMash) && known.key?(child) && !@automatic_written.key?(key)
          (@stale[key] ||= {})[child] = true
        else
          forget_top(key)
        end
      end

      # Another copy of a level was written to.
      def forget_level(name) = name == "automatic" ? nil : @levels.delete(name)

      # This guest had the host change several levels.
      def forget_all
        @merged.clear
        @stale.clear
        forget_levels
        @wrote = true
      end

      # The turn goes away: remembers up to which change everything is known.
      def giving_turn
        return unless @version && @wrote

        @version = Wrun::Bridge.call("node.version")
        @wrote = false
      end

      # A cookbook wrote to `automatic`. Its own policy sees it, and nobody else: the level is the host's.
      def wrote_automatic(key)
        @automatic_written[key] = true
        forget_top(key)
      end

      private

      def look_whether_old
        now = Wrun::Bridge.call("node.version")
        unless now == @version
          @merged.clear
          @stale.clear
          forget_levels
        end
        @version = now
        @turn = Wrun::Turns.passed
      end

      def forget_top(key)
        @merged.delete(key)
        @stale.delete(key)
      end

      # Whoever holds the old object keeps what it said.
      def refresh(key)
        fresh = ImmutableMash.allocate.regular_replace(@merged[key])
        @stale.delete(key).each_key do |child|
          fresh.regular_writer(child, Values.immutable(read("merged", [key, child]), [key, child]))
        end
        @merged[key] = fresh
      end

      def forget_levels
        @generation += 1
        @levels.delete_if { |name, _| name != "automatic" || @automatic_written.empty? }
      end

      def read(view, path)
        Writes.refused_as_chef_says { Wrun::Bridge.call("node.read", view, path) }
      end

      def read_merged(key)
        value = Values.immutable(read("merged", [key]), [key])
        # Cookbooks compare the platform's version as a version.
        value = VersionString.new(value).freeze if key == "platform_version" && value.is_a?(String)
        return value unless @automatic_written.key?(key)

        # Highest of all, and merged by hashes only.
        merged = Mixin::DeepMerge.hash_only_merge(Immutable.thaw(value), @levels["automatic"].read(key))
        ImmutableMash.new("it" => merged).regular_reader("it")
      end
    end

    Wrun::Turns.before { giving_turn }
  end
end
