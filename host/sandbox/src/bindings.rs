//! Contains only the contract's bindings, which `bindgen!` generates from `wit/`.
wasmtime::component::bindgen!({
    path: "../../wit",
    world: "policy",
    imports: { "wrun:turns/turns.next": async | trappable, default: trappable },
    exports: { default: async },
});
