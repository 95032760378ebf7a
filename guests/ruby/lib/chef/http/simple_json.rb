# frozen_string_literal: true

# Cookbooks require it by this name.

require_relative "../http"
