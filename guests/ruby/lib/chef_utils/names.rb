# frozen_string_literal: true

# The names of Chef's programs and products, which cookbooks use in messages and paths.

module ChefUtils
  module Dist
    {
      Apply: { PRODUCT: "Chef Infra Apply", EXEC: "chef-apply" },
      Automate: { PRODUCT: "Chef Automate" },
      Cli: { PRODUCT: "Chef CLI", GEM: "chef-cli" },
      Habitat: { PRODUCT: "Chef Habitat", SHORT: "habitat", EXEC: "hab" },
      Infra: {
        PRODUCT: "Chef Infra Client", SHORT: "chef", CLIENT: "chef-client", EXEC: "chef", SHELL: "chef-shell",
        SHELL_CONF: "chef_shell.rb", USER_CONF_DIR: ".chef", DIR_SUFFIX: "chef", GEM: "chef", CONTAINER_REF: "chef/chef"
      },
      Inspec: { PRODUCT: "Chef InSpec", EXEC: "inspec" },
      Org: {
        WEBSITE: "https://chef.io", DOWNLOADS_URL: "chef.io/downloads", LEGACY_CONF_DIR: "opscode", ENFORCE_LICENSE: true,
        PATENTS: "https://www.chef.io/patents", KNIFE_DOCS: "https://docs.chef.io/workstation/knife/", PRODUCT: "Chef Infra",
        OMNITRUCK_URL: "https://omnitruck.chef.io/install.sh"
      },
      Server: {
        PRODUCT: "Chef Infra Server", CONF_DIR: "/etc/chef-server", SERVER: "chef-server", SERVER_CTL: "chef-server-ctl",
        SERVER_DOCS: "https://docs.chef.io/server/", SYSTEM_USER: "opscode"
      },
      Solo: { PRODUCT: "Chef Infra Solo", EXEC: "chef-solo" },
      Workstation: { PRODUCT: "Chef Workstation", DIR_SUFFIX: "chef-workstation", DOCS: "https://docs.chef.io/workstation/" },
      Zero: { PRODUCT: "Chef Infra Zero", EXEC: "chef-zero" }
    }.each do |name, words|
      type = const_set(name, Class.new)
      words.each { |word, value| type.const_set(word, value.freeze) }
    end
  end
end
