# frozen_string_literal: true

# Implements the handlers of Chef that write the outcome of a run to a file.

class Chef
  class Handler
    # Writes a separate file for each run, with the time in its name.
    class JsonFile < Handler
      attr_reader :config

      def initialize(config = {})
        super()
        @config = { path: "/var/chef/reports" }.merge(config)
      end

      def report
        exception ? Log.error("Creating JSON exception report") : Log.info("Creating JSON run report")
        build_report_dir
        name = "chef-run-report-#{Time.now.strftime("%Y%m%d%H%M%S")}.json"
        ::File.write(::File.join(config[:path], name), "#{JSONCompat.to_json_pretty(plain_data)}\n")
      end

      def build_report_dir
        return if ::File.exist?(config[:path])

        FileUtils.mkdir_p(config[:path])
        ::File.chmod(0o700, config[:path])
      end

      private

      def plain_data
        data.merge(
          start_time: start_time.to_s, end_time: end_time.to_s, node: node.for_json,
          all_resources: all_resources.map(&:to_h), updated_resources: updated_resources.map(&:to_h)
        ).then { |data| Node::Values.plain(data) }
      end
    end

    # Writes the data of the last failed run to the file cache.
    class ErrorReport < JsonFile
      def report
        FileCache.store("failed-run-data.json", JSONCompat.to_json_pretty(plain_data), 0o640)
        Log.fatal("Saving node information to #{FileCache.load("failed-run-data.json", false)}")
      end
    end
  end
end
