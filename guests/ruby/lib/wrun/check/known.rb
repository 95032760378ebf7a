# frozen_string_literal: true

# Looks up names that this library defines: resource types, words of recipes, constants and libraries.

module Wrun
  module Check
    module Known
      # Constants of Ruby for features that the sandbox lacks.
      ABSENT = {
        "TCPSocket" => "sockets", "TCPServer" => "sockets", "UDPSocket" => "sockets", "UNIXSocket" => "sockets",
        "UNIXServer" => "sockets", "Socket" => "sockets", "BasicSocket" => "sockets", "Ractor" => "threads",
        "Fiddle" => "foreign libraries", "DBus" => "sockets", "PTY" => "terminals", "WIN32OLE" => "Windows",
        "Win32" => "Windows"
      }.freeze

      # Matches constants in the namespaces of Chef and its libraries.
      OWN = /\A(?:Chef|ChefUtils|Mixlib|Ohai)(?:::|\z)/

      # Ruby classes that cookbooks use as types of properties.
      TYPES = %w[String Symbol Integer Float Numeric Array Hash TrueClass FalseClass NilClass Proc Regexp Time].freeze

      # Words of metadata. Chef accepts any other word and ignores it.
      METADATA = %i[
        name version description long_description license maintainer maintainer_email depends supports recommends suggests
        conflicts replaces provides recipe attribute grouping gem chef_version ohai_version issues_url source_url privacy
        eager_load_libraries
      ].freeze

      # Properties that Chef's types have on macOS only. Inside a condition they are a note, because a Linux node may never
      # reach them there.
      MACOS_ONLY = {
        "user" => %w[admin admin_username admin_password hidden iterations password_hint secure_token],
        "service" => %w[plist session_type]
      }.freeze

      class << self
        # Returns true if Chef's own type of this name takes precedence over a cookbook's type.
        def first?(name) = Chef::Resource::BEFORE_COOKBOOKS.include?(name.to_sym) || nil

        # Returns true if every resource has a method of this name. `word_of_class?` asks the same of resource classes.
        def common?(name) = Chef::Resource.method_defined?(name) || Object.private_method_defined?(name)
        def word_of_class?(name) = Chef::Resource::LWRPBase.respond_to?(name, true)

        def type?(name) = types.key?(name)

        # Tells whether the library has a type, and why its actions always fail: the name of another platform, or `nobody`.
        def of_type(name)
          type = Chef.resource_handler_map.list(nil, name.to_sym).first or return {}
          return { known: true, idle: type.platform_name } if type <= Chef::Resource::Foreign

          { known: true, idle: type.include?(Chef::Resource::Refusing) ? "nobody" : nil }
        end

        # Marks the properties and actions that a type of the library does not define, and the values that it refuses. Takes the
        # key `exact` out of the properties, whose values JSON cannot express. `among` has the types that the code may declare
        # at this place: a property behind a condition may be of another one of them.
        def judge(name, properties, among: [name])
          exact = properties.map { |property| property.delete(:exact) }
          types = Chef.resource_handler_map.list(nil, name.to_sym)
          return mark_common(properties) if types.empty?
          return if types.any? { |type| type <= Chef::Resource::Foreign }

          properties.zip(exact) do |property, value|
            next property[:elsewhere] = "macOS" if property[:conditional] && MACOS_ONLY.fetch(name, []).include?(property[:name])
            next judge_action(types, property) if property[:name] == "action"

            judge_property(property[:conditional] ? all_types(among) : types, property)
            property[:refused] = Refusals.of(types, property[:name].to_sym, value.first) if value && !property[:unknown]
          end
        end

        def all_types(names) = names.flat_map { |name| Chef.resource_handler_map.list(nil, name.to_sym) }

        # Marks a property that no type of this name defines. A name such as `package` has several types, one for each
        # platform.
        def judge_property(types, property)
          called = property[:name].to_sym
          return if types.any? { |type| type.method_defined?(called) }

          property.update(unknown: true, near: Hints.nearest(called.name, types.flat_map { |type| type.properties.keys }))
        end

        def judge_action(types, property)
          actions = types.flat_map(&:allowed_actions)
          property[:bad] = property[:values]&.find { |action| !actions.include?(action.to_sym) }
          property[:near] = Hints.nearest(property[:bad], actions) if property[:bad]
        end

        # Yields each requested action that the type of the target resource (`type[name]`) does not define.
        def wrong_actions(targets, actions)
          targets.map { |target| target[/\A\w+(?=\[)/] }.compact.uniq.product(actions).each do |name, action|
            types = Chef.resource_handler_map.list(nil, name.to_sym)
            next if types.empty? || types.any? { |type| type <= Chef::Resource::Foreign }

            known = types.flat_map(&:allowed_actions)
            yield type: name, name: action, near: Hints.nearest(action, known) unless known.include?(action.to_sym)
          end
        end

        # Marks the properties that every resource has, for a type that the library does not define.
        def mark_common(properties)
          properties.each { |property| property[:common] = true if common?(property[:name].to_sym) }
        end

        # Returns true for a method of recipes, actions or providers that is not a resource type.
        def word?(name) = words.key?(name)

        # Whether the blocks of a type's resources know a word. A type that the library does not have may know any property:
        # the host holds it against those.
        def word_of_type?(type, name)
          common?(name) || Chef.resource_handler_map.list(nil, type.to_sym).any? { |one| one.method_defined?(name) }
        end

        # Whether a node has a method of this name.
        def word_of_node?(name) = [Chef::Node, Chef::Node::ImmutableMash].any? { |type| type.method_defined?(name) }

        # Whether attributes files know a word.
        def word_of_attributes?(name) = word_of_node?(name) || Object.private_method_defined?(name)

        # The word that may have been meant in a recipe, or in an attributes file.
        def near_word(name, context)
          @near ||= {}
          @near.fetch([name, context]) { @near[[name, context]] = Hints.nearest(name.name, words_of(context).grep_v(Hints::UNSAID)) }
        end

        # Returns a constant's name up to the first undefined part. Returns nil if the constant is defined or lies outside
        # Chef's namespaces.
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
        def constant?(name)
          Object.const_defined?(name)
        rescue NameError, TypeError, LoadError
          false
        end

        # A number of a stand-in, such as `Socket::AF_INET`, or an error class is there. Its other classes only refuse.
        def absent(constant)
          root, *below = constant.split("::")
          ABSENT[root] unless below.any? && harmless?(constant)
        end

        # Returns nil if the runtime already has the gem, or the reason why not.
        def gem(name) = Machine::Libraries.has?(name) ? nil : library(name)

        # Returns nil if `require` loads the library, or the reason why not.
        def library(name)
          @libraries ||= {}
          @libraries.fetch(name) { @libraries[name] = try_library(name) }
        end

        private

        def harmless?(constant)
          return false unless constant?(constant)

          found = Object.const_get(constant)
          found.is_a?(Class) ? found <= Exception : !found.is_a?(Module)
        end

        def words_of(context)
          context == :attributes ? Chef::Node.public_instance_methods - Object.instance_methods : words.keys + types.keys
        end

        def types = @types ||= Chef.resource_handler_map.names.to_h { |name| [name, true] }

        def words
          @words ||= [Chef::Recipe, Chef::Resource::ActionClass, Chef::Provider].flat_map do |place|
            place.instance_methods + place.private_instance_methods
          end.to_h { |name| [name, true] }.reject { |name, _| types.key?(name) }
        end

        # Tries to load a library of the runtime. It does not search the cookbooks' own files.
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
