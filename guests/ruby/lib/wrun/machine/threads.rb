# frozen_string_literal: true

# Implements Thread. WebAssembly has only one thread, so `Thread.new` runs the block at once. The object keeps the block's
# value or exception for `join` and `value`.

class Thread
  # The result of a thread's block, which ran at once.
  class AtOnce
    def initialize
      @locals = {}
      @variables = {}
      @failed = false
    end

    def join(_limit = nil)
      error = @error
      @error = nil
      Kernel.raise error if error

      self
    end

    # Pretends to be a Thread, because Ruby cannot create an object of class Thread without starting a thread.
    def is_a?(type) = type == Thread || super
    alias kind_of? is_a?

    def value = join.then { @value }
    def alive? = false
    def status = @failed ? nil : false
    def stop? = true
    def [](name) = @locals[name.to_sym]
    def []=(name, value)
      @locals[name.to_sym] = value
    end
    def key?(name) = @locals.key?(name.to_sym)
    def keys = @locals.keys
    def fetch(name, ...) = @locals.fetch(name.to_sym, ...)
    def thread_variable_get(name) = @variables[name.to_sym]
    def thread_variable_set(name, value) = @variables[name.to_sym] = value
    def thread_variable?(name) = @variables.key?(name.to_sym)
    def kill = self
    def exit = self
    def terminate = self
    def wakeup = self
    def run = self
    def raise(*) = nil
    def name = @name
    def name=(name)
      @name = name
    end
    def priority = 0
    def priority=(value)
      value
    end
    def backtrace = nil
    def inspect = "#<Thread:#{object_id} dead>"
    def abort_on_exception=(value)
      value
    end
    def report_on_exception=(value)
      value
    end

    def wrun_run(arguments)
      @value = yield(*arguments)
    rescue Exception => error # rubocop:disable Lint/RescueException -- it belongs to whoever joins
      @failed = true
      @error = error
    ensure
      return self # rubocop:disable Lint/EnsureReturn -- a `throw` or `break` ends the thread alone
    end
  end

  class << self
    def new(*arguments, &block)
      raise ThreadError, "must be called with a block" unless block

      AtOnce.new.wrun_run(arguments, &block)
    end

    alias start new
    alias fork new
    def pass = nil
    def ===(object) = object.is_a?(self) || super
  end
end
