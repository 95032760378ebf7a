//! Bindings, generated from the contract and from the interface to Ruby (`guests/ruby/wit`).
#![allow(missing_docs, clippy::all, reason = "generated; the WIT is the documentation")]

wit_bindgen::generate!({
    path: ["../../../wit", "../wit"],
    world: "wrun:ruby/bridge-world",
    generate_all,
});
