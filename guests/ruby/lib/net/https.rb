# frozen_string_literal: true

# Exists because older code requires `net/https`.

require_relative "http"
