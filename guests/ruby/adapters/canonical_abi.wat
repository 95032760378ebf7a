;; Handles of Ruby's JavaScript bridge. There is no JavaScript: a handle is the value itself, and dropping it costs nothing.
(module
  (func (export "resource_drop_js-abi-value") (param i32))
  (func (export "resource_new_rb-abi-value") (param i32) (result i32) (local.get 0))
  (func (export "resource_get_rb-abi-value") (param i32) (result i32) (local.get 0)))
