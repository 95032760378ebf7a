# frozen_string_literal: true

# Defines the caches of package tools that older cookbooks empty after a change of a repository. The host queries the tools
# for each package, so emptying does nothing. Other methods of the caches are missing.

class Chef
  class Provider
    class Package
      EMPTYING = %i[
        reload reload_installed reload_provides reset reset_installed restart reap start enable_extra_repo_control
        disable_extra_repo_control
      ].freeze
      private_constant :EMPTYING

      { Yum => %i[YumCache PythonHelper], Dnf => %i[PythonHelper] }.each do |scope, names|
        names.each do |name|
          cache = Class.new do
            include Singleton
            EMPTYING.each { |word| define_method(word) { |*| nil } }
          end
          scope.const_set(name, cache)
        end
      end
    end
  end
end
