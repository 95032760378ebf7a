# frozen_string_literal: true

# Finds the parts of a cookbook for systems that wrun does not manage. Conditions, filters of `provides`, and names of files and
# methods show them.

module Wrun
  module Check
    module Platforms
      extend Literals

      # Names of foreign systems in conditions.
      FOREIGN = %w[
        windows mac_os_x macos mac darwin freebsd openbsd netbsd dragonflybsd solaris solaris2 smartos omnios openindiana
        opensolaris nexentacore aix hpux chocolatey homebrew suse opensuse opensuseleap sles arch gentoo alpine slackware
        exherbo
      ].freeze
      # Names of Linux families and platforms that a node can have.
      LINUX = %w[
        debian ubuntu linuxmint raspbian rhel redhat centos rocky almalinux alma oracle scientific cloudlinux fedora amazon
      ].freeze
      # Others that metadata name: those that Ohai tells apart.
      KNOWN = (FOREIGN + LINUX + %w[
        amazonlinux antergos arcolinux arista_eos bigip cisco clearos cumulus deepin devuan elementary enterpriseenterprise
        eurolinux funtoo ibm_powerkvm ios_xr kali mac_os_x_server manjaro nexus nexus_centos openbmc pidora pop parallels
        suse_linux switchos synology_dsm tizen virtuozzo wrlinux xcp xcp-ng xenserver zlinux opensuse-leap
        opensuse-tumbleweed opensusetumbleweed opensuse-leap-micro sled sles_sap redhatenterpriseserver slackware
      ]).uniq.freeze
      QUESTIONS = (FOREIGN + %w[windows_desktop windows_server_core windows_nano_server windows_ruby bsd_based solaris_based
                                windows_server opensuse_leap arch_linux]).map { |name| :"#{name}?" }.freeze
      ASKED = %i[platform? platform_family? platform].freeze
      FILTERS = %w[os platform platform_family].freeze
      PATTERN = /mswin|mingw|windows|darwin|freebsd|solaris|aix/i
      NAMED = /(?:\A|[_-])(windows|macos|mac_os_x|osx|freebsd|openbsd|solaris2?|aix|smartos)(?:[_-]|\z)/

      class << self
        # Returns the values of a `when` if all are Linux families or platforms, or nil.
        def families_of(list) = array?(list) ? linux_words(elements(list)) : nil

        # Returns the Linux families and platforms for which a condition is true, or nil.
        def families(node)
          return unless node?(node)

          case node.type
          when :FCALL, :VCALL, :CALL, :QCALL, :OPCALL then families_of_call(node)
          when :AND then node.children.filter_map { |one| families(one) }.first
          when :OR
            found = node.children.map { |one| families(one) }
            found.flatten.uniq if found.all?
          end
        end

        # Returns the foreign system that a true condition implies, or nil.
        def if_true(node)
          return unless node?(node)

          case node.type
          when :FCALL, :VCALL, :CALL, :QCALL, :OPCALL then call(node)
          when :AND then node.children.filter_map { |one| if_true(one) }.first
          when :OR then both(node, :if_true)
          when :MATCH2, :MATCH3, :MATCH then matched(node)
          end
        end

        # Returns the foreign system that a false condition implies, or nil.
        def if_false(node)
          return unless node?(node)

          case node.type
          when :OR then node.children.filter_map { |one| if_false(one) }.first
          when :AND then both(node, :if_false)
          when :FCALL, :VCALL, :CALL, :QCALL, :OPCALL then denied(node)
          end
        end

        # Returns a foreign system if all values of a `when` are foreign systems, or nil.
        def when(list)
          return unless array?(list)

          foreign(elements(list))
        end

        def linux?(list) = array?(list) && elements(list).any? { |one| literal(one) == ["linux"] }

        # Returns the foreign system of a filter such as `provides :x, platform: 'windows'`, or nil.
        def filter(arguments)
          hash = arguments.last
          return unless node?(hash) && hash.type == :HASH

          (pairs(hash) || []).filter_map do |key, value|
            foreign(array?(value) ? elements(value) : [value]) if FILTERS.include?(literal(key)&.first)
          end.first
        end

        # Returns the foreign system in the name of a file or of a method, or nil.
        def of_file(path) = path.split("/").drop(1).filter_map { |part| of_name(part.split(".").first.to_s) }.first
        def of_name(name) = name[NAMED, 1]

        private

        def both(node, question)
          found = node.children.map { |one| public_send(question, one) }
          found.first if found.all?
        end

        def foreign(nodes)
          words = nodes.map { |one| literal(one)&.first }
          words.first if words.any? && words.all? { |word| FOREIGN.include?(word) }
        end

        def linux_words(nodes)
          words = nodes.map { |one| literal(one)&.first }
          words if words.any? && words.all? { |word| LINUX.include?(word) }
        end

        def families_of_call(node)
          receiver, name, arguments = parts(node)
          asked = name.name.delete_suffix("?")
          return [asked] if name.end_with?("?") && LINUX.include?(asked)
          return linux_words(elements(arguments) || []) if ASKED.include?(name) && arguments
          return linux_words(elements(receiver)) if %i[include? member?].include?(name) && array?(receiver)

          linux_words([receiver, *elements(arguments)].select { |one| literal(one) }) if %i[== eql? ===].include?(name)
        end

        def call(node)
          receiver, name, arguments = parts(node)
          return name.name.delete_suffix("?") if QUESTIONS.include?(name)
          return foreign(elements(arguments) || []) if ASKED.include?(name) && arguments
          return if_false(receiver) if name == :!
          return foreign(elements(receiver)) if %i[include? member?].include?(name) && array?(receiver)

          foreign([receiver, *elements(arguments)].select { |one| literal(one) }) if %i[== eql? ===].include?(name)
        end

        def denied(node)
          receiver, name, arguments = parts(node)
          return "other than Linux" if name == :linux?
          return if_true(receiver) if name == :!

          foreign([receiver, *elements(arguments)].select { |one| literal(one) }) if name == :!=
        end

        def matched(node)
          pattern = node.children.grep(Literals::Node).find { |one| one.type == :REGX || one.type == :LIT }
          pattern && text_of(pattern)[PATTERN]
        end

        def parts(node) = %i[FCALL VCALL].include?(node.type) ? [nil, node.children[0], node.children[1]] : node.children
      end
    end
  end
end
