# The first script runs with the rights of the login user. It starts the second script as root. @MARK@ begins the lines for
# wrun on the operator's machine. Other programs can read it among the arguments below. So it is valid only until the second
# script begins, which has its own mark.
second='printf "%s started\n" @MARK@; eval "$(dd bs=1 count=@SIZE@ 2>/dev/null)"'
if [ "$(id -u)" = 0 ]; then
    exec /bin/sh -c "$second"
elif [ @SUDO@ = yes ]; then
    command -v sudo >/dev/null 2>&1 || { echo '@MARK@ failed sudo-missing'; exit 1; }
    # sudo asks for a password with a separate line, and reads it from standard input. wrun sends the second script after it
    # has begun.
    sudo -S -p '@MARK@ password
' /bin/sh -c "$second" 2>&1
    code=$?
    [ $code = 0 ] || echo "@MARK@ failed sudo $code"
else
    echo '@MARK@ failed not-root'
fi
