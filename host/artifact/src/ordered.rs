//! Serializes named lists in the order in which they were written, because a policy's revision depends on it.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;

/// Lists of text by name, in order.
pub type NamedLists = Vec<(String, Vec<String>)>;

pub(crate) fn serialize<S: Serializer>(lists: &NamedLists, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(lists.iter().map(|(name, list)| (name, list)))
}

pub fn deserialize<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<(String, V)>, D::Error> {
    struct InOrder<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for InOrder<V> {
        type Value = Vec<(String, V)>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("lists of text by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut lists = vec![];
            while let Some(entry) = map.next_entry()? {
                lists.push(entry);
            }
            Ok(lists)
        }
    }

    deserializer.deserialize_map(InOrder(PhantomData))
}
