//! Engine, store, limits, native-code cache, bindings. The only room that names wasmtime.
