# frozen_string_literal: true

# Restores methods and constants of Ruby 3.1 that later versions removed. Cookbooks for Chef 18 were written for Ruby 3.1.

require "erb"

class File
  def self.exists?(path) = exist?(path)
end

class Dir
  def self.exists?(path) = exist?(path)
end

module FileTest
  def self.exists?(path) = exist?(path)
end

module Kernel
  # Ruby no longer marks tainted objects, so these methods do nothing.
  def taint = self
  def untaint = self
  def trust = self
  def untrust = self
  def tainted? = false
  def untrusted? = false

  # Returns nil, because only strings and symbols can match a pattern.
  def =~(_other) = nil
end

class Set
  def inspect = "#<#{self.class}: {#{map(&:inspect).join(", ")}}>"
  alias to_s inspect
end

Fixnum = Integer
Bignum = Integer
Random::DEFAULT = Random

class ERB
  # Accepts options by position, as older versions of ERB did.
  module OptionsInPlace
    def initialize(text, _safe_level = nil, trim = nil, variable = nil, trim_mode: nil, eoutvar: "_erbout")
      super(text, trim_mode: trim_mode || trim, eoutvar: variable || eoutvar)
    end
  end

  prepend OptionsInPlace
end
