# frozen_string_literal: true

# `yum_repository`: the file of a package repository for yum and dnf.

class Chef
  class Resource
    class YumRepository
      # Ruby renders the template, so the host gets only the text.
      @wrun_host_names -= %i[source]

      def wrun_more_properties(context)
        own = source && run_context.has_template_in_cookbook?(cookbook_name, source)
        own ? [Builtin.rendered(context, -> { Builtin.text_of(self, source, config: self) })] : []
      end
    end
  end
end
