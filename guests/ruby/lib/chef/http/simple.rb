# frozen_string_literal: true

# Exists because cookbooks require `chef/http/simple`.

require_relative "../http"
