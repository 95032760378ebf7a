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

      # Whether a hash is what was read of the merged view at a path.
      def kept?(hash, path)
        top, *below = path
        below.inject(@merged[top]) { |at, key| at.is_a?(ImmutableMash) ? at.regular_reader(key) : nil }.equal?(hash)
      end

      # One level's own component.
      def level(name)
        look_whether_old unless @turn == Wrun::Turns.passed
        @levels[name] ||= name == "automatic" ? automatic : VividMash.at(name, []).take_over(read(name, [], nil) || {})
      end

      # A value of a view. With the place that asks, the host records it: see `wit/deps/node/attributes.wit`.
      def read(view, path, origin)
        Writes.refused_as_chef_says { Wrun::Bridge.call("node.read", view, path, origin) }
      end

      # What is at a path of the merged view, asked by a cookbook; never refused.
      def look(view, path)
        Wrun::Bridge.call("node.look", view, path, Wrun::Sources.origin)
      end

      # A value that is kept here: nil, or how it is kept (`whole`, `open`, `hidden`) and the value.
      def keep(view, path) = Wrun::Bridge.call("node.keep", view, path)

      # Whether an object is hidden at a path, of which members can be asked for.
      def conceals?(view, path) = Wrun::Bridge.call("node.conceals", view, path)

      # The top-level names that the policy may see, for hints.
      def names
        kind, names = Wrun::Bridge.call("node.look", "merged", [], nil)
        kind == "object" ? names : []
      end

      # A value of any view, for looking at only.
      def view(name, path)
        Values.immutable(read(name, path, nil), path)
      end

      # This guest changed something at a path.
      def forget_merged(path)
        @wrote = true
        key, child = path
        return unless @merged.key?(key)

        known = @merged[key]
        # Where only a part is old, only that part is read again. What is new there would not stand in its place, though.
        if child && known.instance_of?(ImmutableMash) && !known.is_a?(Watched) && known.key?(child) && !@automatic_written.key?(key)
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
        fresh = ImmutableMash.allocate.wrun_stand_at([key]).regular_replace(@merged[key])
        @stale.delete(key).each_key do |child|
          fresh.regular_writer(child, Values.immutable(read("merged", [key, child], nil), [key, child]))
        end
        @merged[key] = fresh
      end

      def forget_levels
        @generation += 1
        @levels.delete_if { |name, _| name != "automatic" || @automatic_written.empty? }
      end

      def automatic
        _, facts = keep("automatic", [])
        VividMash.at("automatic", []).take_over(facts || {}).extend(Watched).watch("automatic", [])
      end

      def read_merged(key)
        kind, json = keep("merged", [key])
        # What a cookbook of this policy put there itself is its own.
        if kind == "hidden" && !@automatic_written.key?(key)
          return Concealed.at("merged", [key]) if conceals?("merged", [key])

          json = read("merged", [key], Wrun::Sources.origin)
        end
        # Another policy may have something there: then the operator hears where it was asked for.
        look("merged", [key]) if kind.nil?
        value = Values.immutable(json, [key])
        value.extend(Watched).watch("merged", [key]) if kind == "open"
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
