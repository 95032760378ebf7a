# frozen_string_literal: true

class Chef
  module Mixin
    # Evaluates a cookbook's file in the receiver.
    module FromFile
      attr_accessor :source_file

      # Returns the text of a cookbook's file or of a file on the machine.
      def self.text(path)
        text = Wrun::Sources.read(path) || (File.file?(path) && File.readable?(path) ? IO.binread(path) : nil)
        text or raise IOError, "Cannot open or read #{path}!"
        text.dup.force_encoding(Encoding::UTF_8)
      end

      # Returns the text of a partial.
      def self.partial(path)
        text(path)
      rescue IOError
        raise Errno::ENOENT.new(path, "rb_sysopen")
      end

      # Evaluates a file in the receiver. The file's code sees the local variables of this method. So the only one has Chef's
      # name, `filename`, because a name like `path` could hide a word of cookbooks.
      def from_file(filename)
        self.source_file = filename
        instance_eval(FromFile.text(filename), filename, 1)
      end

      def class_from_file(filename)
        self.source_file = filename
        class_eval(FromFile.text(filename), filename, 1)
      end
    end
  end
end
