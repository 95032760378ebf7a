//! The contract's bindings, generated from `wit/`. Nothing else in this file.
wasmtime::component::bindgen!({
    path: "../../wit",
    world: "policy",
    imports: { "wrun:turns/turns.next": async | trappable, default: trappable },
    exports: { default: async },
});
