# Ends, and its end is kept by a process that traces it, in a session of its own. Writes the tracer's number to the file that it
# is given, if any.
use POSIX ();
my $self = $$;
pipe my $hear, my $say;
# Any process may trace this one, where the kernel asks for that (prctl, PR_SET_PTRACER).
syscall(157, 0x59616d61, -1, 0, 0, 0);
unless (fork) {
    POSIX::setsid();
    # ptrace, PTRACE_SEIZE
    syscall(101, 0x4206, $self, 0, 0) == 0 or exit;
    syswrite $say, "$$\n";
    POSIX::close($_) for 0 .. 9;
    sleep 600;
}
close $say;
my $tracer = <$hear>;
if (@ARGV) {
    open my $out, '>', $ARGV[0];
    print $out $tracer;
}
exit(defined $tracer ? 0 : 9);
