# frozen_string_literal: true

# Classes that need a Chef server. Cookbooks may load and name them. Each call raises an error that names the method.

class Chef
  module ServerOnly
    def method_missing(name, *) = raise(NotImplementedError, "#{self.name}.#{name}: there is no Chef server")
    def respond_to_missing?(*) = false
    def new(*) = raise(NotImplementedError, "#{name}.new: there is no Chef server")
  end
  private_constant :ServerOnly

  %i[ApiClient ApiClientV1 Client Key Org ServerAPI User UserV1].each do |name|
    const_set(name, Class.new { extend ServerOnly }) unless const_defined?(name, false)
  end
end
