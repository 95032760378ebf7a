# frozen_string_literal: true

# Makes the classes of the built-in types, such as `Chef::Resource::File`, from the host's schema. The host runs their actions.
# `builtin_behaviour.rb` adds the parts that only Ruby can supply.

require_relative "../../wrun/resources/types"
require_relative "../../wrun/resources/coercions"

module Wrun
  module Resources
    module Builtin
      # Types with a class that inherits from another type's class, as in Chef.
      PARENTS = {
        template: :file, cookbook_file: :file, remote_file: :file, remote_directory: :directory, script: :execute,
        bash: :script, csh: :script, ksh: :script, perl: :script, python: :script, ruby: :script, apt_package: :package,
        dpkg_package: :package, dnf_package: :package, yum_package: :package, rpm_package: :package, gem_package: :package,
        chef_gem: :gem_package, subversion: :git, linux_user: :user
      }.freeze

      # Types with a class that is nested in its superclass.
      INSIDE_PARENT = %i[linux_user].freeze

      # Types that Chef provides only on their own platform.
      ONLY_THERE = { powershell_script: { os: "windows" }, launchd: { os: "darwin" } }.freeze

      # Types of other platforms that may be declared without a name.
      NAMELESS = %i[homebrew_update].freeze

      # Class names that are not derived from the type's name.
      CLASS_NAMES = { ohai: "Ohai", whyrun_safe_ruby_block: "WhyrunSafeRubyBlock" }.freeze

      # Methods that a type's block can call in its class body.
      module Words
        def coercion(name) = Coercions.fetch(name)

        # Returns validators by their error messages, from their ids in the host's schema.
        def checks(**validators) = validators.to_h { |id, message| [message, Coercions.check(id)] }

        # Defines another name for a property.
        def also(name, property)
          define_method(name) { |*given| public_send(property, *given) }
          define_method(:"#{name}=") { |value| public_send(:"#{property}=", value) }
        end

        # Makes a property collect the values of all its calls.
        def collects(name) = include(Collecting.for(name))
      end

      @pending = []

      class << self
        def fill(&) = instance_eval(&)

        # Makes all types. It makes each superclass before its subclasses.
        def make
          by_name = @pending.to_h { |entry| [entry[:name], entry] }
          @pending.each { |entry| make_one(entry, by_name) }
          @pending.clear
        end

        private

        def type(name, by:, actions:, default:, aliases: [], &properties)
          @pending << { name: name, by: by, actions: actions, default: default, aliases: aliases, properties: properties }
        end

        # Makes types of other platforms, each with its default action. Cookbooks may declare them, but their actions fail.
        def foreign(platform, types, aliases: {})
          types.each { |name, default| make_foreign(name, platform, default) }
          aliases.each { |name, type| Chef.resource_handler_map.get(nil, type).provides(name) }
        end

        def make_one(entry, by_name)
          parent = by_name[PARENTS[entry[:name]]]
          make_one(parent, by_name) if parent
          above = parent ? Chef::Resource.const_get(constant_of(parent[:name]), false) : Chef::Resource
          home = INSIDE_PARENT.include?(entry[:name]) ? above : Chef::Resource
          constant = constant_of(entry[:name])
          return if home.const_defined?(constant, false)

          type = Class.new(above)
          home.const_set(constant, type)
          describe(type, entry)
        end

        def describe(type, entry)
          type.instance_variable_set(:@wrun_builtin, entry[:name]) if %i[host children].include?(entry[:by])
          type.instance_variable_set(:@wrun_composite, true) if entry[:by] == :children
          type.allowed_actions = [:nothing] + entry[:actions]
          type.default_action(entry[:default])
          type.include(Chef::Resource::Refusing) if entry[:by] == :nobody
          type.extend(Words)
          type.class_exec(&entry[:properties])
          own = type.properties.keys - Standing::WRUN_COMMON
          type.instance_variable_set(:@wrun_host_names, own)
          type.provides(entry[:name])
          entry[:aliases].each { |name| type.provides(name) }
        end

        def make_foreign(name, platform, default)
          type = Class.new(Chef::Resource::Foreign)
          Chef::Resource.const_set(constant_of(name), type)
          type.provides(name, **ONLY_THERE.fetch(name, {}))
          type.platform_name = platform
          type.default_action(default)
          type.property(:name, String, default: "") if NAMELESS.include?(name)
        end

        def constant_of(name) = CLASS_NAMES[name] || name.to_s.split("_").map(&:capitalize).join
      end
    end
  end
end

require_relative "foreign"
require_relative "builtin_types/generated"
Wrun::Resources::Builtin.make
require_relative "builtin_behaviour"
