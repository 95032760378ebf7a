# frozen_string_literal: true

# Finds the uses of the machine in plain Ruby code: files, commands, libraries, variables, servers and data. It also finds
# features that the sandbox lacks. `attributes.rb` finds reads and writes of attributes.

module Wrun
  module Check
    class Walk
      # Methods of `File`, `IO`, `Dir` and others, grouped by their effect on the path in their first argument.
      FILES = {
        "File" => {
          read: %i[read readlines foreach exist? exists? file? directory? symlink? readable? writable? executable? size size?
                   zero? empty? stat lstat mtime ctime atime readlink realpath binread world_readable? owned? open new],
          write: %i[write binwrite delete unlink chmod chown rename symlink link utime mkfifo truncate]
        },
        "IO" => { read: %i[read readlines foreach binread], write: %i[write binwrite] },
        "Dir" => { read: %i[glob [] entries children exist? empty? each_child foreach open], write: %i[mkdir rmdir delete unlink] },
        "Pathname" => { read: %i[new], write: [] },
        "FileUtils" => {
          read: [],
          write: %i[mkdir mkdir_p makedirs rm rm_f rm_r rm_rf rmtree touch cp cp_r copy mv move ln ln_s ln_sf chmod chmod_R chown
                    chown_R install remove_entry]
        }
      }.freeze
      OPENING = %i[open new].freeze
      COMMANDS = %i[system exec spawn shell_out shell_out! shell_out_compacted shell_out_compacted! shell_out_with_timeout
                    shell_out_with_timeout! popen popen2 popen2e popen3 capture2 capture2e capture3 pipeline run_command].freeze
      COMMAND_PLACES = [nil, "Kernel", "IO", "Open3", "Process", "Chef::Mixin::ShellOut"].freeze
      # Options of a command that need not appear in its grant.
      HARMLESS_OPTIONS = %w[timeout returns live_stream live_stdout live_stderr log_level log_tag].freeze
      POWERSHELL = %i[powershell_out powershell_out! powershell_exec powershell_exec!].freeze
      ADDRESS = %r{\Ahttps?://[^\s/#?]+(?:[/#?]|\z)}

      private

      def visit_code(node, receiver, name, arguments, block)
        place = constant(receiver)
        visit_machine(node, place, name, arguments, block)
        visit_data(node, receiver, place, name, arguments)
        return unless receiver.nil?

        case name
        when :require then visit_require(node, arguments)
        when :include_recipe
          add(:recipe, node, values: recipe_names(arguments), literal: elements(arguments)&.all? { |one| one.type == :STR } || nil)
        when :render then note_partial_template(node, elements(arguments) || [])
        when :fork then add_absent(node, "fork", "processes of its own")
        when *POWERSHELL then add_absent(node, name.to_s, "Windows")
        end
      end

      # Code that uses a feature of Windows counts as code for Windows.
      def add_absent(node, name, what)
        within(platform: @platform || (what == "Windows" ? "windows" : nil)) { add(:absent, node, name: name, what: what) }
      end

      def recipe_names(arguments)
        names = elements(arguments)&.map { |one| texts(one, @variables) }
        names.flatten if names&.all?
      end

      def visit_require(node, arguments)
        names = texts(elements(arguments)&.first, @variables) or return
        names.reject { |name| name.match?(%r{\A[/~.]}) }.each do |name|
          why = Known.library(name)
          add(:library, node, name: name, why: why, hint: why && Machine::Libraries.advice(name))
        end
      end

      def visit_machine(node, place, name, arguments, block)
        given = elements(arguments) || []
        if COMMANDS.include?(name) && COMMAND_PLACES.include?(place) && command_call?(name, place, node, given)
          add(:command, node, values: command(given), via: name.to_s)
        elsif place&.end_with?("Mixlib::ShellOut") && name == :new
          add(:command, node, values: command(given), via: "Mixlib::ShellOut")
        elsif place == "Process" && %i[fork daemon].include?(name)
          add_absent(node, "Process.#{name}", "processes of its own")
        elsif FILES.key?(place)
          visit_file(node, place, name, given)
        end
      end

      # Returns true if the call starts a command. Other objects also have methods such as `open` and `exec`.
      def command_call?(name, place, node, given)
        return false if given.empty?
        return %i[FCALL VCALL].include?(node.type) unless place

        place != "IO" || name == :popen
      end

      # Returns the command as a line or as words. Returns nil if options set its user or directory, because that makes it a
      # different command.
      def command(given)
        return if given.any? { |one| one.type == :HASH && !harmless_options?(one) }

        given = given.reject { |one| one.type == :HASH }
        return texts(given.first, @variables) if given.size == 1 && !array?(given.first)

        words = array?(given.first) ? elements(given.first) : given
        found = words.map { |one| texts(one, @variables) }
        [found.map(&:first)] if found.all? { |one| one&.size == 1 }
      end

      def harmless_options?(hash)
        pairs = elements(hash.children[0]) or return false
        pairs.each_slice(2).all? { |key, _| HARMLESS_OPTIONS.include?(key && literal(key)&.first.to_s) }
      end

      def visit_file(node, place, name, given)
        access = FILES[place].find { |_, names| names.include?(name) }&.first or return
        access = :write if OPENING.include?(name) && place == "File" && writes?(given[1])
        paths = given.first && texts(given.first, @variables)
        paths = paths.select { |path| path.start_with?("/") } if paths
        add(:path, node, access: access, values: paths) unless paths&.empty?
      end

      def writes?(mode) = mode && texts(mode, @variables)&.any? { |one| one.match?(/[wa+]/) }

      # Visits reads of environment variables, data bags, searches and attributes.
      def visit_data(node, receiver, place, name, arguments)
        given = elements(arguments) || []
        if place == "ENV" && %i[[] fetch key?].include?(name)
          names = given.first && texts(given.first, @variables)
          add(:environment, node, values: names)
        elsif receiver.nil? && %i[data_bag data_bag_item].include?(name)
          add(:data_bag, node, values: given.first && texts(given.first, @variables), item: given[1] && texts(given[1], @variables)&.first)
        elsif receiver.nil? && name == :search && given.any?
          add(:search, node, values: texts(given.first, @variables))
        elsif name == :[]
          visit_read(node)
          visit_level(node)
        else
          visit_other_use(node, receiver, name, given)
        end
      end

      def visit_constant(node)
        name = constant(node)
        return visit_children(node) if name.nil?

        what = Known.absent(name)
        add_absent(node, name, what) if what
        missing = Known.missing_constant(name)
        add(:constant, node, name: missing) if missing
        outermost = name.split("::").first
        add(:foreign, node, name: outermost) unless what || missing || constant_here?(outermost)
      end

      # Returns true if Ruby or the library has the constant that a name means here. Ruby looks for it in the classes and
      # modules around the code, and in their superclasses.
      def constant_here?(name) = [nil, *@around].any? { |place| Known.constant?([place, name].compact.join("::")) }

      # Records the HTTP addresses in strings, except in templates.
      def visit_text(node)
        address = text_of(node)
        add(:address, node, value: address) if address.match?(ADDRESS) && @context != :template
      end
    end
  end
end
