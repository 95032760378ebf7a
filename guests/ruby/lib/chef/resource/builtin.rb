# frozen_string_literal: true

# Built-in types that act in Ruby, by resources of their own: reports show these as Chef's do. What each may be given comes
# from the host's schema, as for all built-in types.

require_relative "../http"
require_relative "../mixin/shell_out"
require_relative "../mixin/homebrew"

class Chef
  class Resource
    module Builtin
      # The path of one of our own templates.
      def self.template(name) = "#{__dir__}/builtin/templates/#{name}.erb"

      # Questions that are asked by running a program. A dry run stops one that does more than look: what it cannot know
      # counts as different, so that it says what may be changed.
      module Questions
        # What a program prints.
        def printed(*command, **how)
          shell_out(*command, **how).stdout
        rescue Errno::EROFS
          ""
        end
      end
    end
  end
end

%w[
  alternatives apt_preference apt_repository apt_update breakpoint build_essential chef_handler chef_sleep cron_access cron_d
  hostname kernel_module locale ohai_hint openssl_keys openssl_certificates
  openssl_revocation_list ssh_known_hosts_entry sudo swap_file sysctl
  timezone user_ulimit yum_repository
].each { |name| require_relative "builtin/#{name}" }
require_relative "builtin/undone"
