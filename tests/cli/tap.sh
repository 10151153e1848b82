# tap.sh -- TAP from bash: source it, then check and has; tap_end at the end.
n=0
failed=0

# check NAME WANT GOT: equal?
check() {
    n=$((n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '# want: %s\n# got:  %s\n' "$2" "$3"
        failed=1
    fi
}

# has NAME PART TEXT: does the text contain the part?
has() {
    case $3 in
    *"$2"*) check "$1" yes yes ;;
    *) check "$1" "something with: $2" "$3" ;;
    esac
}

tap_end() {
    echo "1..$n"
    exit $failed
}
