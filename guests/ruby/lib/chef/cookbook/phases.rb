# frozen_string_literal: true

# Answers the phases (`load`, `compile`, `metadata`, ..) in which the host runs cookbook code.

class Chef
  module Cookbook
    module Phases
      # The phases that return a value to the host.
      VALUES = {
        "metadata" => ->(input) { Phases.metadata(input) },
        "check" => ->(input) { Phases.check(input) },
        "gems" => ->(input) { Phases.gems(input) },
        "role" => ->(input) { Role.from_source(input["name"], input["file"], input["source"]).to_data },
        "environment" => ->(input) { Phases.environment(input) }
      }.freeze

      class << self
        def run(phase, input)
          return Wrun::Turns::Value.new(VALUES.fetch(phase).call(input)) if VALUES.key?(phase)

          case phase
          when "load" then load(input)
          when "compile" then Recipes.compile(input.fetch("recipe"))
          else Handlers.run(phase, input)
          end
        end

        def metadata(input)
          name = input.fetch("cookbook")
          Wrun::Sources.settle([name], { name => input["place"] })
          MetadataReader.read(name).to_h
        end

        # Returns an environment's data with the lines of its attributes, so that wrun can tell where a value comes from.
        def environment(input)
          environment = Environment.from_source(input["name"], input["file"], input["source"])
          environment.to_data.merge("wrun_lines" => Wrun::AttributeLines.of(input["source"]))
        end

        # Answers three questions: for gems, for a Policyfile and for a client.rb. They share one phase: see
        # `wit/deps/turns/turns.wit`.
        def gems(input)
          return policyfile(input["policyfile"]) if input.key?("policyfile")
          return client_settings(input["client_settings"]) if input.key?("client_settings")

          Wrun::Gems::Choice.new(input).to_data
        end

        # Reads a client.rb. It sees only the files of the pseudo-cookbook `name`, which represents its folder.
        def client_settings(input)
          folder, file = input.values_at("name", "file")
          Wrun::Sources.settle([folder], { folder => File.dirname(file) })
          Wrun::Machine.change_directory(File.dirname(file)) { ClientSettings.read(file, input["source"]) }
        end

        # Reads a Policyfile or a Berksfile. It sees only its own folder, which the pseudo-cookbook `name` represents. A file
        # with the name Berksfile uses the words of Berkshelf.
        def policyfile(input)
          folder, file = input.values_at("name", "file")
          Wrun::Sources.settle([folder], { folder => File.dirname(file) })
          Wrun::Machine.change_directory(File.dirname(file)) do
            (File.basename(file) == "Berksfile" ? Berksfile : Policyfile).from_source(file, input["source"]).wrun_data
          end
        end

        def check(input)
          folder = input.fetch("cookbook")
          Wrun::Sources.settle([folder], { folder => input["place"] })
          defaults = Wrun::Check::Defaults.new(input["attributes"], input["properties"])
          Wrun::Check.file(folder, input.fetch("name"), input.fetch("file"), defaults)
        end

        private

        def load(input)
          Wrun::Failures.all_frames = input["all_frames"] ? true : false
          cookbooks = input.fetch("cookbooks")
          Config.file_cache = input["file_cache"] if input["file_cache"]
          Wrun::Sources.settle(cookbooks, input["places"] || {})
          settle_node(input)
          settle_collection(cookbooks)
          Chef.start_run(RunContext.new(Node.instance, CookbookCollection.instance, EventDispatch::DISPATCHER))
          Loader.new(cookbooks).load
        end

        def settle_node(input)
          Config[:why_run] = input["why_run"] ? true : false
          Provider::Converging.wrun_survey = input["survey"] ? true : false
          Node.written_run_list = input["run_list"]
          Node.kept_run_list = input["primary_run_list"]
          Node.environment_name = input["environment"]
        end

        def settle_collection(cookbooks)
          cookbooks.each do |name|
            Loaded.reachable[name] = true
            CookbookCollection.instance[name] = CookbookVersion.new(name)
          end
        end
      end

      Wrun::Turns.on("run") { |phase, input| Phases.run(phase, input) }
    end
  end
end
