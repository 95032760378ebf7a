# frozen_string_literal: true

# Combines all predicates of `ChefUtils` in one module, to include or to call directly.

require_relative "nodes"
require_relative "machine"
require_relative "names"

module ChefUtils
  VersionString = Chef::VersionString unless const_defined?(:VersionString, false)
  VERSION = Chef::VERSION.to_s

  include DSL::Architecture
  include DSL::Cloud
  include DSL::DefaultPaths
  include DSL::Introspection
  include DSL::OS
  include DSL::Platform
  include DSL::PlatformFamily
  include DSL::PlatformVersion
  include DSL::Service
  include DSL::TrainHelpers
  include DSL::Virtualization
  include DSL::Which
  include DSL::Windows

  CANARY = 1

  extend self
end
