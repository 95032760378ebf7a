# frozen_string_literal: true

# Caches the node attributes that this guest has read. While this guest has the turn, only it writes attributes. When the turn
# comes back, the host's version number tells whether the cache is still valid.

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
      # Returns a number that grows each time the cached levels are discarded.
      attr_reader :generation

      # Returns a top-level attribute of the merged view.
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

      # Returns the attributes of one level alone.
      def level(name)
        look_whether_old unless @turn == Wrun::Turns.passed
        @levels[name] ||= read_level(name)
      end

      # Reads a value of a view. `origin` is the place that the host records with the read: see
      # `wit/deps/node/attributes.wit`.
      def read(view, path, origin)
        Writes.refused_as_chef_says { Wrun::Bridge.call("node.read", view, path, origin) }
      end

      # Returns the shape of the value at a path of a view, for a cookbook's code. The host never refuses this call.
      def look(view, path)
        Wrun::Bridge.call("node.look", view, path, Wrun::Sources.origin)
      end

      # Reads a value for this cache. Returns nil, or the kind (`whole`, `open`, `hidden`) and the value.
      def keep(view, path) = Wrun::Bridge.call("node.keep", view, path)

      # Returns true if the path has a hidden object and `keep` may be called for its members.
      def conceals?(view, path) = Wrun::Bridge.call("node.conceals", view, path)

      # The top-level names that the policy may see, for hints.
      def names
        kind, names = Wrun::Bridge.call("node.look", "merged", [], nil)
        kind == "object" ? names : []
      end

      # Returns an immutable value of any view.
      def view(name, path)
        kind, json = keep(name, path)
        if kind == "hidden"
          return Concealed.at(name, path) if conceals?(name, path)

          json = read(name, path, Wrun::Sources.origin)
        end
        value = Values.immutable(json, path)
        kind == "open" ? value.extend(Watched).watch(name, path) : value
      end

      # Discards the cached values that a change by this guest makes outdated.
      def forget_merged(path)
        @wrote = true
        key, child = path
        return unless @merged.key?(key)

        known = @merged[key]
        # If only one known child is outdated, only that child is read again. A new child needs a full read, because it would
        # otherwise get the wrong position.
        if child && known.instance_of?(ImmutableMash) && !known.is_a?(Watched) && known.key?(child) && !@automatic_written.key?(key)
          (@stale[key] ||= {})[child] = true
        else
          forget_top(key)
        end
      end

      # Discards the cached level after a write through another copy of it.
      def forget_level(name) = name == "automatic" ? nil : @levels.delete(name)

      # Discards the whole cache after this guest changed several levels.
      def forget_all
        @merged.clear
        @stale.clear
        forget_levels
        @wrote = true
      end

      # Stores the version of the attributes before this guest gives up the turn.
      def giving_turn
        return unless @version && @wrote

        @version = Wrun::Bridge.call("node.version")
        @wrote = false
      end

      # Notes that a cookbook wrote to `automatic`. Only the cookbook's own policy sees the write, because the level belongs
      # to the host.
      def wrote_automatic(key)
        @automatic_written[key] = true
        forget_top(key)
      end

      # Returns true if a cookbook of this policy wrote this fact.
      def wrote_automatic?(key) = @automatic_written.key?(key)

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

      # Makes a new object, so that code with the old object keeps the old values.
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

      # Only these two levels have values that are not the policy's own: facts, and what the operator and others wrote to
      # `normal`.
      def read_level(name)
        return VividMash.at(name, []).take_over(read(name, [], nil) || {}) unless %w[automatic normal].include?(name)

        _, values = keep(name, [])
        VividMash.at(name, []).take_over(values || {}).extend(Watched).watch(name, [])
      end

      def read_merged(key)
        kind, json = keep("merged", [key])
        # A policy may read the facts that its own cookbooks wrote.
        if kind == "hidden" && !@automatic_written.key?(key)
          return Concealed.at("merged", [key]) if conceals?("merged", [key])

          json = read("merged", [key], Wrun::Sources.origin)
        end
        # Another policy may have a value there. `look` reports the place of the read to the host, so that the operator sees
        # it.
        look("merged", [key]) if kind.nil?
        value = Values.immutable(json, [key])
        value.extend(Watched).watch("merged", [key]) if kind == "open"
        # Cookbooks compare the platform's version as a version.
        value = VersionString.new(value).freeze if key == "platform_version" && value.is_a?(String)
        return value unless @automatic_written.key?(key)

        # The cookbooks' own writes to `automatic` win over all levels. Only hashes are merged.
        merged = Mixin::DeepMerge.hash_only_merge(Immutable.thaw(value), @levels["automatic"].read(key))
        ImmutableMash.new("it" => merged).regular_reader("it")
      end
    end

    Wrun::Turns.before { giving_turn }
  end
end
