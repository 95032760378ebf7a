# The second script runs as root. It reports the machine's state, and then carries out one order after the other.
umask 077
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
DEBIAN_FRONTEND=noninteractive
export LC_ALL PATH DEBIAN_FRONTEND
# A broken connection must not interrupt the package manager or a run.
trap '' HUP PIPE
say() { printf '%s %s\n' @MARK@ "$*"; }
made=
work=
clean() {
    [ -z "$made" ] || rm -f "$made"
    [ -z "$work" ] || rm -rf "$work"
}
trap clean EXIT
stop() {
    clean
    say failed "$@"
    exit 1
}
missing=
for tool in cat chmod chown dd dpkg dpkg-query head mkdir mktemp mv rm sha256sum stat uname wc; do
    command -v $tool >/dev/null 2>&1 || missing="$missing $tool"
done
[ -z "$missing" ] || stop tools $missing
[ "$(printf abc | head -c 2)" = ab ] || stop tools 'head -c'
sum() { set -- $(sha256sum <"$1"); printf %s "$1"; }
kept=/var/lib/wrun/package.sha256
say machine "$(uname -m)"
version=$(dpkg-query -W -f '${db:Status-Status} ${Version}' wrun 2>/dev/null) || version=
case $version in
'installed '*) say version "${version#installed }"; [ ! -f $kept ] || say package "$(head -c 64 $kept)" ;;
'config-files '* | '') other=$(command -v wrun) && say other "$other" ;;
*) say broken "$version"  ;;
esac
for path in @FILES@; do
    if [ -h "$path" ]; then
        say link "$path"
    elif [ -f "$path" ]; then
        say file "$path" "$(stat -c %a "$path")" "$(stat -c %u:%g "$path")" "$(sum "$path")"
    elif [ -e "$path" ]; then
        stop 'not-a-file' "$path"
    fi
done
say ready
# Copies the next bytes of standard input to a new file beside the final path. If there are fewer bytes, the connection is
# broken.
take() {
    made=$(mktemp "$1.wrun-XXXXXX") || stop write "$1"
    head -c "$2" >"$made" || stop write "$1"
    [ "$(wc -c <"$made")" -eq "$2" ] || stop short "$1"
    [ "$(sum "$made")" = "$3" ] || stop digest "$1"
}
# Packages are stored in a private folder of root until they are installed.
work_folder() { work=$(mktemp -d /var/tmp/wrun-XXXXXX) || stop write /var/tmp; }
install_package() {
    # The output of dpkg goes to a file first, since a broken connection must not end dpkg.
    dpkg --force-confold --force-confdef --install "$1" >"$work/said" 2>&1 </dev/null
    code=$?
    cat "$work/said"
    rm -rf "$work"
    work=
    [ $code = 0 ] || stop dpkg $code
    mkdir -p -m 700 /var/lib/wrun
    printf '%s\n' "$2" >$kept
}
while read -r order one two three; do
    case $order in
    show)
        say content "$(wc -c <"$one")"
        cat "$one"
        ;;
    put)
        mkdir -p /etc/wrun && chmod 755 /etc/wrun || stop write /etc/wrun
        take "$one" "${two#*:}" "$three"
        chmod "${two%:*}" "$made" && chown 0:0 "$made" && mv -f "$made" "$one" || stop write "$one"
        ;;
    mode)
        chmod "$two" "$one" && chown 0:0 "$one" || stop write "$one"
        ;;
    package)
        work_folder
        take "$work/wrun.deb" "$one" "$two"
        install_package "$made" "$two"
        ;;
    fetch)
        work_folder
        made=$work/wrun.deb
        if command -v curl >/dev/null 2>&1; then
            curl --fail --silent --show-error --location --output "$made" -- "$one" </dev/null || stop fetch "$one"
        elif command -v wget >/dev/null 2>&1; then
            wget -q -O "$made" -- "$one" </dev/null || stop fetch "$one"
        else
            stop tools 'curl or wget'
        fi
        [ "$(sum "$made")" = "$two" ] || stop digest "$one"
        install_package "$made" "$two"
        ;;
    converge)
        (umask 022 && exec wrun converge) </dev/null 2>&1
        say done $?
        continue
        ;;
    end) say end; exit 0 ;;
    *) stop order "$order" ;;
    esac
    say done 0
done
exit 1
