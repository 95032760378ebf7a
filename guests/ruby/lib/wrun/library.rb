# frozen_string_literal: true

# Everything that a recipe finds, in the order in which it is loaded.

require "wrun/turns"
