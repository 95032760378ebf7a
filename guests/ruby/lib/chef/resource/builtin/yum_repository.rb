# frozen_string_literal: true

# `yum_repository`: a file that tells yum and dnf of a repository.

class Chef
  class Resource
    class YumRepository
      # The host gets the text of a template.
      @wrun_host_names -= %i[source]

      def wrun_more_properties(context)
        own = source && run_context.has_template_in_cookbook?(cookbook_name, source)
        own ? [Builtin.rendered(context, -> { Builtin.text_of(self, source, config: self) })] : []
      end
    end
  end
end
