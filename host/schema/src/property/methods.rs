//! Lists the public methods of Ruby's values, for `respond_to`. It is a table of names, because the host does not run Ruby.
//!
//! Source: the reference documentation of Ruby 3.1's core classes. Methods that cookbooks or gems add to core classes are
//! unknown here. Custom resources check their own properties in the guest, where these methods exist.

use super::Class;
use crate::value::Value;

/// Methods of every object (`Object`, `Kernel`, `BasicObject`).
const OBJECT: &str = "! != !~ == === <=> __id__ __send__ class clone define_singleton_method display dup enum_for eql? equal? \
extend freeze frozen? hash inspect instance_eval instance_exec instance_of? instance_variable_defined? instance_variable_get \
instance_variable_set instance_variables is_a? itself kind_of? method methods nil? object_id private_methods protected_methods \
public_method public_methods public_send remove_instance_variable respond_to? send singleton_class singleton_method \
singleton_methods tap then to_enum to_s yield_self";

const COMPARABLE: &str = "< <= > >= between? clamp";

const TEXT: &str = "% * + +@ -@ =~ [] []= ascii_only? b bytes bytesize byteslice byteindex capitalize capitalize! casecmp casecmp? \
center chars chomp chomp! chop chop! chr codepoints concat count crypt delete delete! delete_prefix delete_prefix! delete_suffix \
delete_suffix! downcase downcase! dump each_byte each_char each_codepoint each_grapheme_cluster each_line empty? encode encode! \
encoding end_with? force_encoding getbyte grapheme_clusters gsub gsub! hex include? index insert intern length lines ljust lstrip \
lstrip! match match? next next! oct ord partition prepend replace reverse reverse! rindex rjust rpartition rstrip rstrip! scan \
scrub scrub! setbyte size slice slice! split squeeze squeeze! start_with? strip strip! sub sub! succ succ! sum swapcase swapcase! \
to_c to_f to_i to_r to_str to_sym tr tr! tr_s tr_s! undump unicode_normalize unicode_normalize! unicode_normalized? unpack \
unpack1 upcase upcase! upto valid_encoding? <<";

const SYMBOL: &str = "=~ [] capitalize casecmp casecmp? downcase empty? encoding end_with? id2name length match match? name next \
size slice start_with? succ swapcase to_proc to_sym upcase";

const NUMERIC: &str = "% * ** + +@ - -@ / abs abs2 angle arg ceil coerce conj conjugate denominator div divmod fdiv finite? floor i \
imag imaginary infinite? integer? magnitude modulo negative? nonzero? numerator phase polar positive? quo rationalize real real? \
rect rectangular remainder round step to_c to_f to_i to_int to_r truncate zero?";

const INTEGER: &str = "& << >> [] ^ allbits? anybits? bit_length chr digits downto even? gcd gcdlcm lcm next nobits? odd? ord pow \
pred size succ times upto | ~";

const FLOAT: &str = "nan? next_float prev_float";

const ENUMERABLE: &str = "all? any? chain chunk chunk_while collect collect_concat compact count cycle detect drop drop_while \
each_cons each_entry each_slice each_with_index each_with_object entries filter filter_map find find_all find_index first flat_map \
grep grep_v group_by include? inject lazy map max max_by member? min min_by minmax minmax_by none? one? partition reduce reject \
reverse_each select slice_after slice_before slice_when sort sort_by sum take take_while tally to_a to_h to_set uniq zip each";

const LIST: &str = "& * + - << [] []= append assoc at bsearch bsearch_index clear collect! combination compact! concat deconstruct \
delete delete_at delete_if difference dig each_index empty? fetch fill filter! flatten flatten! index insert intersect? \
intersection join keep_if last length map! pack permutation pop prepend product push rassoc reject! repeated_combination \
repeated_permutation replace reverse reverse! rindex rotate rotate! sample select! shift shuffle shuffle! size slice slice! sort! \
sort_by! to_ary transpose union uniq! unshift values_at |";

const MAP: &str = "< <= > >= [] []= assoc clear compact! compare_by_identity compare_by_identity? deconstruct_keys default default= \
default_proc default_proc= delete delete_if dig each_key each_pair each_value empty? except fetch fetch_values filter! \
has_key? has_value? invert keep_if key key? keys length merge merge! rassoc rehash reject! replace select! shift size slice store \
to_hash to_proc transform_keys transform_keys! transform_values transform_values! update value? values values_at";

const NIL: &str = "& =~ rationalize to_a to_c to_f to_h to_i to_r ^ |";

const BOOLEAN: &str = "& ^ |";

/// Answers Ruby's `respond_to?` for a value of a core class.
pub fn responds_to(value: &Value, method: &str) -> bool {
    let own: &[&str] = match Class::of(value) {
        Class::Text => &[TEXT, COMPARABLE],
        Class::Symbol => &[SYMBOL, COMPARABLE],
        Class::Integer => &[INTEGER, NUMERIC, COMPARABLE],
        Class::Float => &[FLOAT, NUMERIC, COMPARABLE],
        Class::List => &[LIST, ENUMERABLE],
        Class::Map => &[MAP, ENUMERABLE],
        Class::Nil => &[NIL],
        _ => &[BOOLEAN],
    };
    std::iter::once(&OBJECT).chain(own).any(|names| names.split_ascii_whitespace().any(|name| name == method))
}
