# frozen_string_literal: true

# Implements `autoload` for files that come with the policy. Ruby's own `autoload` only works with files that Ruby itself
# loads. So this code finds such constants in `const_missing`.

module Wrun
  module Machine
    # The file of each registered constant, by module and name.
    @awaited = {}.compare_by_identity

    class << self
      # Registers a constant whose file comes with the policy. Returns false for other files. Calls from the runtime's own
      # files always use Ruby's `autoload`, because some of them run before there is a host.
      def await(owner, name, path, caller)
        return false if runtime_folder?(caller.path)
        return false unless feature(path) || Gems.feature(path)

        (@awaited[owner] ||= {})[name.to_sym] = path
        true
      end

      # Returns the file of a module's registered constant, or nil.
      def awaited(owner, name) = @awaited[owner]&.[](name.to_sym)

      # Loads the file of a constant that is registered for a module, an enclosing module or an ancestor. Returns the module
      # that then has the constant, or nil.
      def load_awaited(from, name)
        owner = awaiting(from, name) or return

        require(@awaited[owner].delete(name))
        owner if owner.const_defined?(name, false)
      end

      private

      def awaiting(from, name)
        return if @awaited.empty?

        [*surroundings(from), *from.ancestors, Object].find { |owner| @awaited[owner]&.key?(name) }
      end

      # Returns the module and its enclosing modules. It derives them from the name, because Ruby does not tell which line
      # uses a constant.
      def surroundings(from)
        found = [from]
        parts = from.name.to_s.split("::")
        while parts.size > 1
          parts.pop
          outer = parts.join("::")
          found << Object.const_get(outer) if Object.const_defined?(outer)
        end
        found
      end
    end
  end
end

class Module
  alias wrun_autoload autoload
  alias wrun_autoload? autoload?
  alias wrun_const_missing const_missing
  private :wrun_autoload, :wrun_autoload?, :wrun_const_missing

  def autoload(name, path) = wrun_await(name, path, caller_locations(1, 1).first)

  def wrun_await(name, path, caller)
    return if const_defined?(name, false) && !wrun_autoload?(name)

    Wrun::Machine.await(self, name, Wrun::Machine.path_text(path), caller) ? nil : wrun_autoload(name, path)
  end
  private :wrun_await

  def autoload?(name, inherit = true) = Wrun::Machine.awaited(self, name) || wrun_autoload?(name, inherit)

  def const_missing(name)
    owner = Wrun::Machine.load_awaited(self, name)
    owner ? owner.const_get(name, false) : wrun_const_missing(name)
  end
end

module Kernel
  private

  # At the top level, `autoload` registers a constant of Object.
  def autoload(name, path) = Object.send(:wrun_await, name, path, caller_locations(1, 1).first)
  def autoload?(name, inherit = true) = Object.autoload?(name, inherit)
end
