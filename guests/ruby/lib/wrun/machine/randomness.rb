# frozen_string_literal: true

# Takes random numbers from the host, for policies with the grant `random`. A frozen runtime would produce the same numbers in
# each run, so Ruby's own source of seeds is not used. A generator with a seed from the cookbook does not need the grant.

module Wrun
  module Machine
    @seeded = false

    class << self
      # Returns random bytes. Without the grant, raises an error that names it.
      def random_bytes(count)
        bytes = "".b
        while bytes.bytesize < count
          more = Bridge.call("random.bytes", [count - bytes.bytesize, 65_536].min)
          raise Errno::EACCES, "this policy may not have random numbers; the grant `random = true` would allow it" if more.nil?

          bytes << more
        end
        bytes
      end

      def new_seed = random_bytes(16).unpack("Q2").inject { |high, low| high << 64 | low }

      # Seeds Ruby's own generator from the host, once.
      def prepare_randomness
        return if @seeded

        Random.native_srand(new_seed)
        @seeded = true
      end

      def seed(seed)
        before = Random.native_srand(seed || new_seed)
        @seeded = true
        before
      end

      def random_number(limit)
        prepare_randomness
        # Like Kernel#rand: a limit of zero means no limit, and the sign of a limit is ignored.
        return Random.native_rand(limit) if limit.is_a?(Range)

        limit = limit.to_i.abs
        limit.zero? ? Random.native_rand : Random.native_rand(limit)
      end
    end
  end
end

class Random
  class << self
    alias native_srand srand
    alias native_rand rand
    alias native_bytes bytes
    alias native_new new
    alias native_seed seed

    def new(seed = Wrun::Machine.new_seed) = native_new(seed)
    def new_seed = Wrun::Machine.new_seed
    def srand(seed = nil) = Wrun::Machine.seed(seed)
    def urandom(count) = Wrun::Machine.random_bytes(count)

    def rand(...)
      Wrun::Machine.prepare_randomness
      native_rand(...)
    end

    def bytes(count)
      Wrun::Machine.prepare_randomness
      native_bytes(count)
    end

    def seed
      Wrun::Machine.prepare_randomness
      native_seed
    end

    def random_number(...) = rand(...)
  end
end

class Array
  %i[shuffle shuffle! sample].each do |name|
    native = :"wrun_#{name}"
    alias_method native, name
    private native
    # A generator that the caller passes has its own seed.
    class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
      def #{name}(*arguments, **options)
        Wrun::Machine.prepare_randomness unless options.key?(:random)
        __send__(#{native.inspect}, *arguments, **options)
      end
    RUBY
  end
end
