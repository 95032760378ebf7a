# frozen_string_literal: true

# What Ruby 3.1, for which Chef 18's cookbooks were written, has and later Rubies have not.

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
  # Nothing is tainted.
  def taint = self
  def untaint = self
  def trust = self
  def untrust = self
  def tainted? = false
  def untrusted? = false

  # What is no string matches nothing.
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
  # Options by their places, as they were given before they had names.
  module OptionsInPlace
    def initialize(text, _safe_level = nil, trim = nil, variable = nil, trim_mode: nil, eoutvar: "_erbout")
      super(text, trim_mode: trim_mode || trim, eoutvar: variable || eoutvar)
    end
  end

  prepend OptionsInPlace
end
