# frozen_string_literal: true

# Everything that a recipe finds, in the order in which it is loaded.

require "wrun/turns"

# Ruby's own libraries that are always at hand, before the machine takes their place in files, processes and clocks.
%w[
  rubygems json set digest erb uri yaml fileutils date time shellwords pathname forwardable singleton securerandom
].each { |name| require name }

require "wrun/machine"
require "wrun/sources"
require "wrun/gems/choice"
require "chef/foundation"
require "chef/resources"
require "chef/loading"
