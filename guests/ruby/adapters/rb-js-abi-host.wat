;; Ruby's JavaScript bridge, mapped on ours. `JS.eval(request)` calls the bridge, `to_s` of what it returns is the reply.
;; The rest of that bridge is unreachable: our Ruby library never calls it.
;;
;; An adapter may have no data, table or element of its own: its state is in globals and in one block of Ruby's memory.
(module
  (import "env" "memory" (memory 0))
  (import "__main_module__" "cabi_realloc" (func $allocate (param i32 i32 i32 i32) (result i32)))
  (import "__main_module__" "rb-eval-string-protect: func(str: string) -> tuple<handle<rb-abi-value>, s32>"
    (func $evaluate (param i32 i32) (result i32)))
  (import "__main_module__" "canonical_abi_drop_rb-abi-value" (func $drop_value (param i32)))
  (import "wrun:ruby/bridge@0.1.0" "call" (func $call (param i32 i32 i32)))
  (import "wrun:ruby/bridge@0.1.0" "last-words" (func $last_words (param i32 i32)))

  (global $block (mut i32) (i32.const 0))   ;; 16 bytes: where the bridge leaves the place and length of its reply
  (global $reply (mut i32) (i32.const 0))
  (global $length (mut i32) (i32.const 0))

  (func $block_of_mine (result i32)
    (if (i32.eqz (global.get $block))
      (then (global.set $block (call $allocate (i32.const 0) (i32.const 0) (i32.const 8) (i32.const 16)))))
    (global.get $block))

  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (call $allocate (local.get 0) (local.get 1) (local.get 2) (local.get 3)))

  ;; Writes `success(1)`. Ruby frees the request, and later the reply.
  (func (export "eval-js: func(code: string) -> variant { success(handle<js-abi-value>), failure(handle<js-abi-value>) }")
    (param $request i32) (param $size i32) (param $result i32)
    (call $call (local.get $request) (local.get $size) (call $block_of_mine))
    (global.set $reply (i32.load (global.get $block)))
    (global.set $length (i32.load offset=4 (global.get $block)))
    (i32.store8 (local.get $result) (i32.const 0))
    (i32.store offset=4 (local.get $result) (i32.const 1)))

  (func (export "js-value-to-string: func(value: handle<js-abi-value>) -> string") (param i32) (param $result i32)
    (i32.store (local.get $result) (global.get $reply))
    (i32.store offset=4 (local.get $result) (global.get $length))
    (global.set $reply (i32.const 1))
    (global.set $length (i32.const 0)))

  ;; Evaluates `$wrun.()`, which never raises: what is not `nil` (Qnil is 4) ended the loop.
  (func (export "serve") (local $answer i32)
    (i64.store (call $block_of_mine) (i64.const 0x29282e6e75727724))
    (local.set $answer (call $evaluate (global.get $block) (i32.const 8)))
    (if (i32.load offset=4 (local.get $answer))
      (then
        (i64.store (global.get $block) (i64.const 0x69616c2079627552))         ;; "Ruby lai"
        (i64.store offset=8 (global.get $block) (i64.const 0x202e6e776f642064)) ;; "d down. "
        (call $last_words (global.get $block) (i32.const 16))
        (unreachable)))
    (call $drop_value (i32.load (local.get $answer))))

  (func (export "rb_wasm_throw_prohibit_rewind_exception") (param $text i32) (param $size i32)
    (call $last_words (local.get $text) (local.get $size))
    (unreachable))

  (func (export "is-js: func(value: handle<js-abi-value>) -> bool") (param i32) (result i32) (unreachable))
  (func (export "instance-of: func(value: handle<js-abi-value>, klass: handle<js-abi-value>) -> bool") (param i32 i32) (result i32) (unreachable))
  (func (export "global-this: func() -> handle<js-abi-value>") (result i32) (i32.const 1))
  (func (export "int-to-js-number: func(value: s32) -> handle<js-abi-value>") (param i32) (result i32) (unreachable))
  (func (export "float-to-js-number: func(value: float64) -> handle<js-abi-value>") (param f64) (result i32) (unreachable))
  (func (export "string-to-js-string: func(value: string) -> handle<js-abi-value>") (param i32 i32) (result i32) (unreachable))
  (func (export "bool-to-js-bool: func(value: bool) -> handle<js-abi-value>") (param i32) (result i32) (unreachable))
  (func (export "proc-to-js-function: func(value: u32) -> handle<js-abi-value>") (param i32) (result i32) (unreachable))
  (func (export "rb-object-to-js-rb-value: func(raw-rb-abi-value: u32) -> handle<js-abi-value>") (param i32) (result i32) (unreachable))
  (func (export "js-value-to-integer: func(value: handle<js-abi-value>) -> variant { as-float(float64), bignum(string) }") (param i32 i32) (unreachable))
  (func (export "export-js-value-to-host: func(value: handle<js-abi-value>) -> ()") (param i32) (unreachable))
  (func (export "import-js-value-from-host: func() -> handle<js-abi-value>") (result i32) (unreachable))
  (func (export "js-value-typeof: func(value: handle<js-abi-value>) -> string") (param i32 i32) (unreachable))
  (func (export "js-value-equal: func(lhs: handle<js-abi-value>, rhs: handle<js-abi-value>) -> bool") (param i32 i32) (result i32) (unreachable))
  (func (export "js-value-strictly-equal: func(lhs: handle<js-abi-value>, rhs: handle<js-abi-value>) -> bool") (param i32 i32) (result i32) (unreachable))
  (func (export "reflect-apply: func(target: handle<js-abi-value>, this-argument: handle<js-abi-value>, arguments: list<handle<js-abi-value>>) -> variant { success(handle<js-abi-value>), failure(handle<js-abi-value>) }") (param i32 i32 i32 i32 i32) (unreachable))
  (func (export "reflect-get: func(target: handle<js-abi-value>, property-key: string) -> variant { success(handle<js-abi-value>), failure(handle<js-abi-value>) }") (param i32 i32 i32 i32) (unreachable))
  (func (export "reflect-set: func(target: handle<js-abi-value>, property-key: string, value: handle<js-abi-value>) -> variant { success(handle<js-abi-value>), failure(handle<js-abi-value>) }") (param i32 i32 i32 i32 i32) (unreachable)))
