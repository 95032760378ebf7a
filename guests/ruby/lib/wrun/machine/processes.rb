# frozen_string_literal: true

# Implements Process: the sandbox is one process of user root. A call that starts a command returns after the command's end.

module Process
  class << self
    # An invented process number, which nobody can use to send a signal to the runtime.
    def pid = 1
    def ppid = 0
    def uid = 0
    def euid = 0
    def gid = 0
    def egid = 0
    def groups = [0]
    def getpgrp = 0
    def last_status = $wrun_status

    def wait(pid = -1, _flags = 0)
      raise Errno::ECHILD if $wrun_status.nil?

      pid.positive? ? pid : $wrun_status.pid
    end

    alias waitpid wait
    def wait2(...) = [wait(...), $wrun_status]
    alias waitpid2 wait2
    def waitall = []
    def detach(_pid) = $wrun_status.then { |status| Thread.new { status } }

    # Tests whether a process exists (signal 0). Other signals need a command or a `service` resource.
    def kill(signal, *pids)
      pids.each do |pid|
        raise Errno::ESRCH unless File.exist?("/proc/#{pid}")
        raise Errno::EPERM, "the sandbox sends no signals: run `kill`, or stop the service" unless [0, "EXIT"].include?(signal)
      end.size
    end

    def spawn(...) = Kernel.spawn(...)
    def exec(...) = Kernel.exec(...)
    def fork = Kernel.fork
    def daemon(*) = fork

    %i[uid= gid= euid= egid= groups= setsid setpgid setpgrp setpriority setrlimit initgroups].each do |name|
      define_method(name) { |*| raise Errno::EPERM, "the sandbox stays who it is: Process.#{name}" }
    end
  end

  # The runtime's user and group, under their older names.
  module UID
    def self.eid = 0
    def self.rid = 0
  end

  module GID
    def self.eid = 0
    def self.rid = 0
  end
end
