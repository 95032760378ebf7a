# frozen_string_literal: true

# The handlers that come with Chef: how a run went, as a file.

class Chef
  class Handler
    # A file of its own for every run, named by the time.
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

    # The last failed run, in the cache.
    class ErrorReport < JsonFile
      def report
        FileCache.store("failed-run-data.json", JSONCompat.to_json_pretty(plain_data), 0o640)
        Log.fatal("Saving node information to #{FileCache.load("failed-run-data.json", false)}")
      end
    end
  end
end
