# frozen_string_literal: true

# What this library itself knows: resource types, words of recipes, constants, libraries.

module Wrun
  module Check
    module Known
      # Constants of Ruby that stand for what the sandbox has not.
      ABSENT = {
        "TCPSocket" => "sockets", "TCPServer" => "sockets", "UDPSocket" => "sockets", "UNIXSocket" => "sockets",
        "UNIXServer" => "sockets", "Socket" => "sockets", "BasicSocket" => "sockets", "Ractor" => "threads",
        "Fiddle" => "foreign libraries", "DBus" => "sockets", "PTY" => "terminals", "WIN32OLE" => "Windows",
        "Win32" => "Windows"
      }.freeze

      # Constants of Chef's that only a server, a workstation or another platform has.
      OWN = /\A(?:Chef|ChefUtils|Mixlib|Ohai)(?:::|\z)/

      # Constants that properties are declared with.
      TYPES = %w[String Symbol Integer Float Numeric Array Hash TrueClass FalseClass NilClass Proc Regexp Time].freeze

      # Words of metadata. Chef accepts any other word and ignores it.
      METADATA = %i[
        name version description long_description license maintainer maintainer_email depends supports recommends suggests
        conflicts replaces provides recipe attribute grouping gem chef_version ohai_version issues_url source_url privacy
        eager_load_libraries
      ].freeze

      # Properties that Chef's types have on another system only. Under a condition, no Linux node may reach them.
      ELSEWHERE = {
        "user" => %w[admin admin_username admin_password hidden iterations password_hint secure_token],
        "service" => %w[plist session_type]
      }.freeze

      class << self
        # Whether Chef's own type of a name goes before a cookbook's.
        def first?(name) = Chef::Resource::BEFORE_COOKBOOKS.include?(name.to_sym) || nil

        # Words of every resource, and of the class of one.
        def common?(name) = Chef::Resource.method_defined?(name) || Object.private_method_defined?(name)
        def word_of_class?(name) = Chef::Resource::LWRPBase.respond_to?(name, true)

        def type?(name) = types.key?(name)

        # Whether a type is one of the library's, and why it is none that can act here: the platform that it is for, or
        # `nobody`.
        def of_type(name)
          type = Chef.resource_handler_map.list(nil, name.to_sym).first or return {}
          return { known: true, idle: type.platform_name } if type <= Chef::Resource::Foreign

          { known: true, idle: type.include?(Chef::Resource::Refusing) ? "nobody" : nil }
        end

        # Marks the properties that a type of the library has not, and its unknown actions.
        def judge(name, properties)
          types = Chef.resource_handler_map.list(nil, name.to_sym)
          return mark_common(properties) if types.empty?
          return if types.any? { |type| type <= Chef::Resource::Foreign }

          properties.each do |property|
            next if property[:conditional] && ELSEWHERE.fetch(name, []).include?(property[:name])

            property[:name] == "action" ? judge_action(types, property) : judge_property(types, property)
          end
        end

        # A name may stand for several types, of which the platform chooses one: `package`.
        def judge_property(types, property)
          called = property[:name].to_sym
          return if types.any? { |type| type.method_defined?(called) }

          property.update(unknown: true, near: Hints.nearest(called.name, types.flat_map { |type| type.properties.keys }))
        end

        def judge_action(types, property)
          actions = types.flat_map(&:allowed_actions)
          property[:bad] = property[:values]&.find { |action| !actions.include?(action.to_s.to_sym) }
          property[:near] = Hints.nearest(property[:bad].to_s, actions) if property[:bad]
        end

        # Yields each action that a type of the library has not, of those that are wanted of resources (`type[name]`).
        def wrong_actions(targets, actions)
          targets.map { |target| target[/\A\w+(?=\[)/] }.compact.uniq.product(actions).each do |name, action|
            types = Chef.resource_handler_map.list(nil, name.to_sym)
            next if types.empty? || types.any? { |type| type <= Chef::Resource::Foreign }

            known = types.flat_map(&:allowed_actions)
            yield type: name, name: action, near: Hints.nearest(action, known) unless known.include?(action.to_sym)
          end
        end

        # Of a type that the library does not have: what every resource has.
        def mark_common(properties)
          properties.each { |property| property[:common] = true if common?(property[:name].to_sym) }
        end

        # Words that every recipe and action knows, beside the types.
        def word?(name) = words.key?(name)

        # Whether the blocks of a type's resources know a word. A type that the library does not have may know any property:
        # the host holds it against those.
        def word_of_type?(type, name)
          common?(name) || Chef.resource_handler_map.list(nil, type.to_sym).any? { |one| one.method_defined?(name) }
        end

        # Whether attributes files know a word.
        def word_of_attributes?(name)
          [Chef::Node, Chef::Node::ImmutableMash].any? { |type| type.method_defined?(name) } || Object.private_method_defined?(name)
        end

        # The word that may have been meant in a recipe, or in an attributes file.
        def near_word(name, context)
          @near ||= {}
          @near.fetch([name, context]) { @near[[name, context]] = Hints.nearest(name.name, words_of(context).grep_v(Hints::UNSAID)) }
        end

        # The first part of a constant's name that is not there, or nil if all is, or if it is none of Chef's.
        def missing_constant(name)
          return unless name.match?(OWN)

          name.split("::").inject([Object, []]) do |(scope, path), part|
            path += [part]
            return path.join("::") unless scope.is_a?(Module) && scope.const_defined?(part, scope == Object)

            [scope.const_get(part), path]
          end
          nil
        rescue NameError, LoadError
          name
        end

        # Whether Ruby or this library has a constant.
        def constant?(name) = Object.const_defined?(name)

        def absent(constant) = ABSENT[constant.split("::").first]

        # Whether a gem is there without travelling: nil, or why not.
        def gem(name) = Machine::Libraries.has?(name) ? nil : library(name)

        # Whether a library can be required: nil, or why not.
        def library(name)
          @libraries ||= {}
          @libraries.fetch(name) { @libraries[name] = try_library(name) }
        end

        private

        def words_of(context)
          context == :attributes ? Chef::Node.public_instance_methods - Object.instance_methods : words.keys + types.keys
        end

        def types = @types ||= Chef.resource_handler_map.names.to_h { |name| [name, true] }

        def words
          @words ||= [Chef::Recipe, Chef::Resource::ActionClass, Chef::Provider].flat_map do |place|
            place.instance_methods + place.private_instance_methods
          end.to_h { |name| [name, true] }.reject { |name, _| types.key?(name) }
        end

        # The runtime's own libraries are there or not; cookbooks' own files are not looked at.
        def try_library(name)
          Kernel.require(name)
          nil
        rescue LoadError => error
          error.message[/\((.*)\)\z/m, 1] || "there is no such library here"
        rescue StandardError, NotImplementedError => error
          Failures.text_of(error)
        end
      end
    end
  end
end
