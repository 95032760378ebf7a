//! Bindings, generated from the contract and from the border to Ruby.
#![allow(missing_docs, clippy::all, reason = "generated; the WIT is the documentation")]

wit_bindgen::generate!({
    path: ["../../../wit", "../wit"],
    world: "wrun:ruby/bridge-world",
    generate_all,
});
