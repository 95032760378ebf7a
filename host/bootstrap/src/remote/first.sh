# The first script, with the rights of whoever logs in. It starts the second one, as root.
# @MARK@ begins the lines that are for the other end. Programs of the machine can read it among the arguments below, so it
# counts no longer than until the second script begins, which has a mark of its own.
second='printf "%s started\n" @MARK@; eval "$(dd bs=1 count=@SIZE@ 2>/dev/null)"'
if [ "$(id -u)" = 0 ]; then
    exec /bin/sh -c "$second"
elif [ @SUDO@ = yes ]; then
    command -v sudo >/dev/null 2>&1 || { echo '@MARK@ failed sudo-missing'; exit 1; }
    # A password is asked for by a line of its own, and read from standard input; the second script follows when it has begun.
    sudo -S -p '@MARK@ password
' /bin/sh -c "$second" 2>&1
    code=$?
    [ $code = 0 ] || echo "@MARK@ failed sudo $code"
else
    echo '@MARK@ failed not-root'
fi
