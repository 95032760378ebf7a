# frozen_string_literal: true

# Loads everything that recipes can use, in order.

require "wrun/turns"

# Ruby's own libraries that are always loaded. They must come before `wrun/machine`, which replaces Ruby's files, processes
# and clocks.
%w[
  rubygems json set digest erb uri yaml fileutils date time shellwords pathname forwardable singleton securerandom
].each { |name| require name }

require "wrun/machine"
require "wrun/sources"
require "wrun/gems/choice"
require "chef/foundation"
require "chef/resources"
require "chef/loading"
