# frozen_string_literal: true

# Implements Etc: users, groups and system data of the machine.

module Etc
  Passwd = Struct.new(:name, :passwd, :uid, :gid, :gecos, :dir, :shell)
  Group = Struct.new(:name, :passwd, :gid, :mem)
  VERSION = "1.4.6"

  class << self
    def getpwnam(name) = users.find { |user| user.name == name } || raise(ArgumentError, "can't find user for #{name}")
    def getpwuid(uid = 0) = users.find { |user| user.uid == uid } || raise(ArgumentError, "can't find user for #{uid}")
    def getgrnam(name) = groups.find { |group| group.name == name } || raise(ArgumentError, "can't find group for #{name}")
    def getgrgid(gid = 0) = groups.find { |group| group.gid == gid } || raise(ArgumentError, "can't find group for #{gid}")

    def passwd(&block) = block ? users.each(&block).then { nil } : getpwent
    def group(&block) = block ? groups.each(&block).then { nil } : getgrent
    def getpwent = next_of(:@next_user, users)
    def getgrent = next_of(:@next_group, groups)
    def setpwent = (@next_user = 0).then { nil }
    def setgrent = (@next_group = 0).then { nil }
    alias endpwent setpwent
    alias endgrent setgrent

    # A run has root's rights, so the default is root.
    def getlogin = ENV["LOGNAME"] || "root"
    def systmpdir = "/tmp"
    def sysconfdir = "/etc"
    def nprocessors = [File.read("/proc/cpuinfo").scan(/^processor\s*:/).size, 1].max

    def uname
      kernel = ->(name) { File.read("/proc/sys/kernel/#{name}").strip }
      { sysname: kernel["ostype"], nodename: kernel["hostname"], release: kernel["osrelease"], version: kernel["version"],
        machine: Wrun::Bridge.call("node.keep", "merged", %w[kernel machine])&.at(1).to_s }
    end

    private

    def users
      Wrun::Machine.users.map { |user| Passwd.new(user["name"], "x", *user.values_at("uid", "gid", "comment", "home", "shell")) }
    end

    def groups
      Wrun::Machine.groups.map { |group| Group.new(group["name"], "x", group["gid"], group["members"]) }
    end

    def next_of(counter, all)
      at = instance_variable_get(counter) || 0
      instance_variable_set(counter, at + 1)
      all[at]
    end
  end

  # Iterates over users and groups, as in Ruby's Etc.
  class Passwd
    extend Enumerable
    def self.each(&) = Etc.passwd(&)
  end

  class Group
    extend Enumerable
    def self.each(&) = Etc.group(&)
  end
end
