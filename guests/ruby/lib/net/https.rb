# frozen_string_literal: true

# An older name for what Net::HTTP has.

require_relative "http"
