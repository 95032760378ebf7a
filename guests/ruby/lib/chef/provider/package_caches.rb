# frozen_string_literal: true

# The package tools' caches that older cookbooks empty when they have changed a repository. The host asks the tools anew for
# each package, so there is nothing to empty. Such a cache answers no questions.

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
