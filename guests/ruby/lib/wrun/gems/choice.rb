# frozen_string_literal: true

# Chooses the gems that travel with cookbooks: the gems in their metadata, and the dependencies of these. Each gem has the newest
# version that fits all requirements. The host asks a separate instance of the runtime, because only Ruby can read gem
# specifications.

require_relative "specification"

module Wrun
  module Gems
    class Choice
      # The most rounds. In each round, chosen gems may add requirements that change the choice.
      ROUNDS = 50
      private_constant :ROUNDS

      # A requirement for a gem. `cookbook` is the cookbook whose metadata caused it, and `who` is the name in messages.
      Wish = Struct.new(:cookbook, :who, :gem, :requirement)

      # One gem of the folder. If Ruby cannot read the gem, `specification` is nil and `unreadable` has the reason.
      Offer = Struct.new(:number, :file, :specification, :unreadable)

      # The error for a gem that cannot be chosen.
      class Refusal < StandardError
        # `hopeless` is true if another version of the gem would not help.
        attr_reader :wish, :hopeless

        def initialize(wish, text, hopeless: false)
          @wish = wish
          @hopeless = hopeless
          super(text)
        end
      end

      # `input` has three keys. `wanted` has cookbooks with the arguments of `gem`, and `without` the names of gems to leave out.
      # `there` has the gems in the folder, each with `file` and either `specification` or `files`.
      def initialize(input)
        @without = input.fetch("without")
        @wanted = input.fetch("wanted").map { |cookbook, (gem, *constraints)| wish(cookbook, gem, constraints) }
        @offers = input.fetch("there").each_with_index.map { |one, number| offer(number, one) }
      end

      # Returns the chosen gems, or the refused gem and the cookbook that needs it.
      def to_data
        { "chosen" => settle.values.sort_by(&:file).map { |offer| chosen(offer) } }
      rescue Refusal => refusal
        { "refused" => { "cookbook" => refusal.wish.cookbook, "gem" => refusal.wish.gem, "what" => refusal.message,
                         "requirement" => refusal.wish.requirement.to_s, "hopeless" => refusal.hopeless } }
      end

      private

      def wish(cookbook, gem, constraints)
        constraints = constraints.grep(String)
        Wish.new(cookbook, "cookbook #{cookbook}", gem.to_s, Gem::Requirement.create(constraints))
      end

      def offer(number, one)
        specification =
          one["specification"] ? Specification.of_text(one["specification"]) : Specification.of_folder(one["file"], one["files"])
        Offer.new(number, one["file"], specification)
      rescue Specification::Unreadable, ArgumentError => error
        Offer.new(number, one["file"], nil, error.message)
      end

      def chosen(offer)
        specification = offer.specification
        { "there" => offer.number, "name" => specification.name, "version" => specification.version.to_s,
          "require_paths" => specification.require_paths }
      end

      # Repeats the choice until the requirements no longer change. A chosen gem may need others, and these may exclude an earlier
      # choice.
      def settle
        wishes = @wanted
        ROUNDS.times do
          offers = choose(wishes)
          all = @wanted + offers.values.flat_map { |offer| needs(offer, wishes) }
          return offers if all == wishes

          wishes = all
        end
        raise Refusal.new(@wanted.first, "its gems forbid each other whatever versions are taken")
      end

      # Returns an offer for each gem that must travel.
      def choose(wishes)
        wishes.group_by(&:gem).each_with_object({}) do |(gem, of_gem), offers|
          next if @without.include?(gem)

          found = best(gem, of_gem)
          offers[gem] = found if found
        end
      end

      def best(gem, wishes)
        of_name = @offers.select { |offer| offer.specification&.name == gem }
        fitting = of_name.select { |offer| wishes.all? { |wish| wish.requirement.satisfied_by?(offer.specification.version) } }
        found = fitting.max_by { |offer| [offer.specification.trouble ? 0 : 1, offer.specification.version] }
        return missing(gem, of_name, wishes) unless found

        trouble = found.specification.trouble
        raise Refusal.new(wishes.first, "#{wanted(wishes)}, and #{found.file} #{trouble}", hopeless: true) if trouble

        found
      end

      # Returns nil if the runtime has the gem, and raises a refusal otherwise.
      def missing(gem, of_name, wishes)
        return if of_name.empty? && Machine::Libraries.has?(gem)

        raise Refusal.new(wishes.first, "#{wanted(wishes)}, and there is #{instead(gem, of_name)}")
      end

      def instead(gem, of_name)
        return of_name.map { |offer| offer.specification.version }.sort.join(", ").prepend("only ") unless of_name.empty?

        broken = @offers.find { |offer| offer.unreadable && offer.file.start_with?("#{gem}-") }
        broken ? "only #{broken.file}, which cannot be read: #{broken.unreadable}" : "none"
      end

      def wanted(wishes) = wishes.map { |wish| "#{wish.who} wants gem #{wish.gem} (#{wish.requirement})" }.uniq.join(", ")

      def needs(offer, wishes)
        specification = offer.specification
        cookbook = wishes.find { |wish| wish.gem == specification.name }.cookbook
        needed = specification.unpacked? ? unpacked_beside(specification.name) : specification.dependencies
        needed.map { |gem, requirement| Wish.new(cookbook, "gem #{specification.name} #{specification.version}", gem, requirement) }
      end

      # Returns all other unpacked gems as dependencies, because the folder of an unpacked gem does not list its dependencies.
      def unpacked_beside(name)
        specifications = @offers.filter_map(&:specification).select { |one| one.unpacked? && !one.trouble && one.name != name }
        specifications.map(&:name).uniq.map { |gem| [gem, Gem::Requirement.default] }
      end
    end
  end
end
