# A file system whose server takes requests and answers none but the first, with which each begins. It belongs to the user 65534,
# as one that this user has mounted with fusermount3. With a second argument, other users may look at it as well.
use Fcntl;
my $folder = $ARGV[0];
sysopen(my $fuse, "/dev/fuse", O_RDWR) or die "/dev/fuse: $!";
my $options = sprintf "fd=%d,rootmode=40000,user_id=65534,group_id=65534%s", fileno $fuse, $ARGV[1] ? ",allow_other" : "";
my ($source, $type) = ("silent", "fuse");
syscall(165, $source, $folder, $type, 6, $options) == 0 or die "mount: $!";
$| = 1;
while (sysread $fuse, my $request, 1 << 18) {
    my (undef, $kind, $number) = unpack "L L Q", $request;
    next unless $kind == 26;
    syswrite $fuse, pack("L l Q L L x56", 80, 0, $number, 7, 31);
    print "mounted\n";
}
