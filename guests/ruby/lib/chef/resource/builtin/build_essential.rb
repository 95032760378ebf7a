# frozen_string_literal: true

# `build_essential`: what one compiles C with.

class Chef
  class Resource
    class BuildEssential
      PACKAGES = {
        debian?: %w[autoconf binutils-doc bison build-essential flex gettext ncurses-dev],
        fedora_derived?: %w[autoconf bison flex gcc gcc-c++ gettext kernel-devel make m4 ncurses-devel patch],
        suse?: %w[autoconf bison flex gcc gcc-c++ kernel-default-devel make m4]
      }.freeze

      property :compile_time, [true, false], default: false, desired_state: false

      action :install do
        _, names = PACKAGES.find { |family, _| public_send(family) }
        names ? package(names) : say_unsupported
      end

      action :upgrade do
        Chef::Log.debug "The build_essential resource :upgrade action is only supported on macOS systems. Skipping..."
      end

      action_class do
        def say_unsupported
          text = "        The build_essential resource does not currently support the '#{node["platform_family"]}'\n" \
                 "        platform family. Skipping...\n"
          raise text if new_resource.raise_if_unsupported

          Chef::Log.warn text
        end
      end
    end
  end
end
