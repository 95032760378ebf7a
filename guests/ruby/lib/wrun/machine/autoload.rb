# frozen_string_literal: true

# `autoload` of files that come with the policy. Ruby's own remembers which file is being loaded for which constant, and
# knows nothing of files that it does not load itself; so constants of these are looked up where Ruby finds none.

module Wrun
  module Machine
    # The file for a constant, by module and name.
    @awaited = {}.compare_by_identity

    class << self
      # Notes a constant whose file comes with the policy; false for another's. The runtime's own files, some of which are
      # loaded when there is no host to ask, wait for their own kind only.
      def await(owner, name, path, caller)
        return false if runtime_folder?(caller.path)
        return false unless feature(path) || Gems.feature(path)

        (@awaited[owner] ||= {})[name.to_sym] = path
        true
      end

      # The file that a module's constant waits for, or nil.
      def awaited(owner, name) = @awaited[owner]&.[](name.to_sym)

      # Loads the file of a constant that a module, one it stands in or one it descends from waits for. Returns whose
      # constant it is then, or nil.
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

      # The module and those that it stands in, by its name: Ruby does not say from which line a constant is asked for.
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

  # Outside of any module, a constant of all.
  def autoload(name, path) = Object.send(:wrun_await, name, path, caller_locations(1, 1).first)
  def autoload?(name, inherit = true) = Object.autoload?(name, inherit)
end
