//! The contract's bindings, generated from `wit/`.
#![allow(missing_docs, clippy::all, reason = "generated; the WIT is the documentation")]

wit_bindgen::generate!({
    path: "wit",
    world: "policy",
    generate_all,
    pub_export_macro: true,
    export_macro_name: "export",
    runtime_path: "wit_bindgen::rt",
    default_bindings_module: "wrun_sdk::component",
});
