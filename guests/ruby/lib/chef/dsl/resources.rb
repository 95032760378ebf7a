# frozen_string_literal: true

# Adds a method for each name that a resource type provides.

class Chef
  module DSL
    module Resources
      class << self
        def add_resource_dsl(name)
          name = name.to_sym
          return if method_defined?(name, false)

          if name.match?(/\A[a-z_]\w*\z/i)
            module_eval(<<~RUBY, __FILE__, __LINE__ + 1)
              # def file(name = nil, &block)
              #   wrun_declare_here(:file, name, caller_locations(1, 1).first, &block)
              # end
              def #{name}(name = nil, &block)
                wrun_declare_here(:#{name}, name, caller_locations(1, 1).first, &block)
              end
            RUBY
          else
            define_method(name) { |given = nil, &block| wrun_declare_here(name, given, caller_locations(2, 1).first, &block) }
          end
        end

        def remove_resource_dsl(name) = method_defined?(name, false) && remove_method(name)
      end
    end
  end
end
