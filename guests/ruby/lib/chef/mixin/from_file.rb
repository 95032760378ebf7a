# frozen_string_literal: true

class Chef
  module Mixin
    # Evaluates a cookbook's file in the receiver.
    module FromFile
      attr_accessor :source_file

      # A file's text: a cookbook's, or one of the machine's.
      def self.text(path)
        text = Wrun::Sources.read(path) || (File.file?(path) && File.readable?(path) ? IO.binread(path) : nil)
        text or raise IOError, "Cannot open or read #{path}!"
        text.dup.force_encoding(Encoding::UTF_8)
      end

      # The text of a file that another one takes in.
      def self.partial(path)
        text(path)
      rescue IOError
        raise Errno::ENOENT.new(path, "rb_sysopen")
      end

      # The text sees the local variables of these methods: the only one is called as Chef's is, since a word like `path`
      # means something else in cookbooks.
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
