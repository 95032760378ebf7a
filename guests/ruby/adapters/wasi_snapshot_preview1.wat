;; The system that Ruby sees: standard output and error, which become lines of the log, a clock, randomness if there is
;; any, and nothing else. Files come from the image that is packed into Ruby's memory; all other paths are not there
;; (44, ENOENT), all other descriptors are not open (8, EBADF).
(module
  (import "env" "memory" (memory 0))
  (import "wrun:ruby/bridge@0.1.0" "print" (func $print (param i32 i32 i32)))
  (import "wrun:ruby/bridge@0.1.0" "now" (func $now (result i64)))
  (import "wrun:ruby/bridge@0.1.0" "monotonic" (func $monotonic (result i64)))
  (import "wrun:ruby/bridge@0.1.0" "sleep" (func $sleep (param i64)))
  (import "wrun:ruby/bridge@0.1.0" "may-be-random" (func $may_be_random (result i32)))
  (import "wrun:ruby/bridge@0.1.0" "random" (func $random (result i64)))

  ;; No environment: `ENV` is the Ruby library's, which asks the host.
  (func (export "environ_sizes_get") (param $count i32) (param $size i32) (result i32)
    (i32.store (local.get $count) (i32.const 0))
    (i32.store (local.get $size) (i32.const 0))
    (i32.const 0))

  (func (export "clock_res_get") (param i32) (param $resolution i32) (result i32)
    (i64.store (local.get $resolution) (i64.const 1000))
    (i32.const 0))

  ;; Clock 0 is the time of day; the others are all monotonic.
  (func (export "clock_time_get") (param $clock i32) (param i64) (param $result i32) (result i32)
    (i64.store (local.get $result)
      (if (result i64) (local.get $clock) (then (call $monotonic)) (else (call $now))))
    (i32.const 0))

  ;; Waits for the one thing that can be waited for: a subscription (48 bytes) to a clock (tag 0 at 8), by a duration at
  ;; 24. Anything else is not supported (52). Writes one event (32 bytes).
  (func (export "poll_oneoff") (param $in i32) (param $out i32) (param $count i32) (param $result i32) (result i32)
    (if (i32.or (i32.ne (local.get $count) (i32.const 1)) (i32.load8_u offset=8 (local.get $in)))
      (then (return (i32.const 52))))
    (call $sleep (i64.load offset=24 (local.get $in)))
    (i64.store (local.get $out) (i64.load (local.get $in)))
    (i64.store offset=8 (local.get $out) (i64.const 0))
    (i64.store offset=16 (local.get $out) (i64.const 0))
    (i64.store offset=24 (local.get $out) (i64.const 0))
    (i32.store (local.get $result) (i32.const 1))
    (i32.const 0))

  ;; Type 0 is unknown, hence no terminal: Ruby writes no colours. Rights: 2 is reading, 64 writing.
  (func (export "fd_fdstat_get") (param $descriptor i32) (param $result i32) (result i32)
    (if (i32.gt_u (local.get $descriptor) (i32.const 2)) (then (return (i32.const 8))))
    (i64.store (local.get $result) (i64.const 0))
    (i64.store offset=8 (local.get $result)
      (select (i64.const 64) (i64.const 2) (local.get $descriptor)))
    (i64.store offset=16 (local.get $result) (i64.const 0))
    (i32.const 0))

  (func (export "fd_filestat_get") (param $descriptor i32) (param $result i32) (result i32)
    (if (i32.gt_u (local.get $descriptor) (i32.const 2)) (then (return (i32.const 8))))
    (i64.store (local.get $result) (i64.const 0))
    (i64.store offset=8 (local.get $result) (i64.const 0))
    (i64.store offset=16 (local.get $result) (i64.const 0))
    (i64.store offset=24 (local.get $result) (i64.const 0))
    (i64.store offset=32 (local.get $result) (i64.const 0))
    (i64.store offset=40 (local.get $result) (i64.const 0))
    (i64.store offset=48 (local.get $result) (i64.const 0))
    (i64.store offset=56 (local.get $result) (i64.const 0))
    (i32.const 0))

  ;; Standard input is at its end.
  (func (export "fd_read") (param $descriptor i32) (param i32 i32) (param $result i32) (result i32)
    (if (local.get $descriptor) (then (return (i32.const 8))))
    (i32.store (local.get $result) (i32.const 0))
    (i32.const 0))

  (func (export "fd_write") (param $descriptor i32) (param $pieces i32) (param $count i32) (param $result i32)
    (result i32) (local $written i32)
    (if (i32.gt_u (i32.sub (local.get $descriptor) (i32.const 1)) (i32.const 1)) (then (return (i32.const 8))))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (call $print (local.get $descriptor) (i32.load (local.get $pieces)) (i32.load offset=4 (local.get $pieces)))
        (local.set $written (i32.add (local.get $written) (i32.load offset=4 (local.get $pieces))))
        (local.set $pieces (i32.add (local.get $pieces) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next)))
    (i32.store (local.get $result) (local.get $written))
    (i32.const 0))

  ;; Where randomness is not granted: EPERM (63). Seven bytes of a word are used; its eighth marks how many are left.
  (func (export "random_get") (param $at i32) (param $left i32) (result i32) (local $word i64)
    (if (i32.eqz (call $may_be_random)) (then (return (i32.const 63))))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $left)))
        (if (i64.eqz (i64.shr_u (local.get $word) (i64.const 8)))
          (then (local.set $word (i64.or (i64.const 0x0100000000000000)
            (i64.and (call $random) (i64.const 0x00ffffffffffffff))))))
        (i64.store8 (local.get $at) (local.get $word))
        (local.set $word (i64.shr_u (local.get $word) (i64.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $next)))
    (i32.const 0))

  (func (export "proc_exit") (param i32) (unreachable))

  (func (export "fd_close") (param i32) (result i32)
    (select (i32.const 8) (i32.const 0) (i32.gt_u (local.get 0) (i32.const 2))))

  (func (export "fd_fdstat_set_flags") (param i32 i32) (result i32)
    (select (i32.const 8) (i32.const 0) (i32.gt_u (local.get 0) (i32.const 2))))

  (func (export "environ_get") (param i32 i32) (result i32) (i32.const 0))
  (func (export "fd_readdir") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_datasync") (param i32) (result i32) (i32.const 8))
  (func (export "fd_renumber") (param i32 i32) (result i32) (i32.const 8))
  (func (export "path_rename") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_symlink") (param i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_readlink") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "fd_prestat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "path_unlink_file") (param i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_filestat_get") (param i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "fd_prestat_dir_name") (param i32 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_filestat_set_size") (param i32 i64) (result i32) (i32.const 8))
  (func (export "path_create_directory") (param i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_remove_directory") (param i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_filestat_set_times") (param i32 i32 i32 i32 i64 i64 i32) (result i32) (i32.const 44))
  (func (export "fd_seek") (param i32 i64 i32 i32) (result i32) (i32.const 70))
  (func (export "fd_sync") (param i32) (result i32) (i32.const 8))
  (func (export "fd_tell") (param i32 i32) (result i32) (i32.const 70))
  (func (export "fd_pread") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_advise") (param i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_pwrite") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "path_link") (param i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_open") (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32) (i32.const 44)))
