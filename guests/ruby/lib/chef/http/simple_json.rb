# frozen_string_literal: true

# Exists because cookbooks require `chef/http/simple_json`.

require_relative "../http"
