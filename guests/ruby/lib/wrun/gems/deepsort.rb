# frozen_string_literal: true

# Implements `deep_sort` of the gem deepsort: sorts hashes by their keys and arrays by their elements, on all levels. Values
# that Ruby cannot compare are sorted by their text.

module DeepSort
  # Sorts a value; `how` may say `array: false`, `hash: false` or `insensitive: true`.
  def self.sorted(value, how, &by)
    case value
    when Array
      inner = value.map { |element| sorted(element, how, &by) }
      how[:array] == false ? inner : order(inner, how, &by)
    when Hash
      inner = value.map { |key, one| [sorted(key, how, &by), sorted(one, how, &by)] }
      inner = order(inner, how) { |key, one| by ? by.call([key, one]) : key } unless how[:hash] == false
      inner.to_h
    else value
    end
  end

  def self.order(values, how, &by)
    keyed = values.map { |value| [folded(by ? by.call(value) : value, how), value] }
    begin
      keyed.sort { |one, other| one[0] <=> other[0] || raise(ArgumentError) }.map(&:last)
    rescue ArgumentError, NoMethodError
      keyed.sort_by { |key, _| key.to_s }.map(&:last)
    end
  end
  private_class_method :order

  def self.folded(key, how) = how[:insensitive] && key.is_a?(String) ? key.downcase : key
  private_class_method :folded

  # The methods for arrays and hashes.
  module Methods
    def deep_sort(how = {}) = DeepSort.sorted(self, how)
    def deep_sort_by(how = {}, &) = DeepSort.sorted(self, how, &)
    def deep_sort!(how = {}) = replace(deep_sort(how))
    def deep_sort_by!(how = {}, &) = replace(deep_sort_by(how, &))
  end
end

Array.include(DeepSort::Methods)
Hash.include(DeepSort::Methods)

# Sorts a value. Returns it unchanged if it is neither an array nor a hash.
def deep_sort(value, how = {}) = DeepSort.sorted(value, how)
