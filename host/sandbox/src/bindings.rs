//! The contract's bindings, generated from `wit/`. Nothing else in this file.
#![expect(missing_docs, unreachable_pub, clippy::all, reason = "generated; the WIT is the documentation")]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "cookbook",
    imports: { "wrun:cookbook/turns.next": async | trappable, default: trappable },
    exports: { default: async },
});
