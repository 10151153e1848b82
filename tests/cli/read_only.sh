#!/usr/bin/env bash
# read_only.sh -- commands that only read: the same answer on a read-only directory, no file changed there, and no
# writer blocked meanwhile.
#
#     read_only.sh MAKI      prints TAP
set -u
maki=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
case $maki in /*) ;; *) maki=$PWD/$maki ;; esac
unset MAKI_CONFIG
export XDG_CONFIG_HOME=$dir/none

# frozen COMMAND...: with all of $dir/home read-only, in a mount namespace of its own
how=
for try in -m -rm; do
    unshare $try bash -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"' - "$dir" 2>/dev/null || continue
    how=$try
    break
done
frozen() {
    unshare $how bash -c 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"' \
        "$dir/home" "$@"
}
free() { (cd "$dir/home" && exec "$@"); }
# what every file is: name, size, time of change, content
picture() { (cd "$dir/home" && find . -type f -printf '%p %s %T@ %i\n' -exec sha256sum {} \; | sort); }

mkdir -p "$dir/home/agents/default/sessions"
cd "$dir/home" || exit 1
export MAKI_HOME=$dir/home
id=7f3a0000-0000-4000-8000-000000000001
row() { printf '{"role":"%s","content":"%s","ts":%s}\n' "$1" "$2" "$3"; }
{ row user '吾輩は猫である。名前はまだ無い。' 1000; row assistant '다시 해 주세요 🍣' 2000
  row user '在分岔路口 src/main.c' 3000; row assistant 'いいよ 🍥' 4000; } >rows
"$maki" history append talk.jsonl <rows >/dev/null
"$maki" history pin talk.jsonl 2 >/dev/null
"$maki" history fork talk.jsonl fork.jsonl 2 >/dev/null
row user '分かれ道' 5000 | "$maki" history append fork.jsonl >/dev/null
{ echo "{\"type\":\"header\",\"version\":1,\"sessionId\":\"$id\",\"createdAt\":1,\"sessionKey\":\"agent:default:main\"}"
  cat rows; } >agents/default/sessions/$id.jsonl

# ---- where nothing may be written ----------------------------------------------------------------------
# Each state of the files, and each command: what it answers there, and what it answers where it may write.
commands=(
    "history log talk.jsonl --json"
    "history effective talk.jsonl --json"
    "history status talk.jsonl --json"
    "history status talk.jsonl --json --model claude-sonnet-4-5"
    "history diff talk.jsonl 2 4 --json"
    "history export talk.jsonl --format openai"
    "history effective fork.jsonl --json"
    "tokens count --messages talk.jsonl"
    "session show $id --json"
    "session status $id --json"
    "session status agent:default:main --json"
    "session list --json"
)
states=("as it was left" "no index" "rows that no index has" "a torn end" "an index of something else")
prepare() {
    case $1 in
    "no index") rm -f ./*.idx agents/default/sessions/*.idx ;;
    "rows that no index has") row user 'よその道具が書いた 👋' 6000 | tee -a talk.jsonl >>agents/default/sessions/$id.jsonl ;;
    "a torn end") printf '{"role":"user","content":"切れ' | tee -a talk.jsonl >>agents/default/sessions/$id.jsonl ;;
    "an index of something else") cp fork.idx talk.idx ;;
    esac
}
cp -a "$dir/home" "$dir/kept"
# readOnly is what differs, and that the list of sessions could not be kept
same() { sed 's/"readOnly":[a-z]*/"readOnly":_/; s/,"note":"[^"]*"//'; }
if [ "$how" ]; then
    for state in "${states[@]}"; do
        for command in "${commands[@]}"; do
            rm -rf "$dir/home"; cp -a "$dir/kept" "$dir/home"; cd "$dir/home" || exit 1
            prepare "$state"
            before=$(picture)
            # shellcheck disable=SC2086
            there=$(frozen "$maki" $command 2>&1); code=$?
            case "$command, $state" in "tokens"*"torn end") want=2 ;; *) want=0 ;; esac # it reports the torn one
            check "$command, $state: works read-only" $want $code
            check "$command, $state: and touches nothing" "$before" "$(picture)"
            # shellcheck disable=SC2086
            check "$command, $state: the same answer" "$(free "$maki" $command 2>&1 | same)" "$(same <<<"$there")"
        done
        rm -rf "$dir/home"; cp -a "$dir/kept" "$dir/home"; cd "$dir/home" || exit 1
        prepare "$state"
        before=$(picture)
        there=$(frozen "$maki" verify talk.jsonl 2>&1); code=$?
        [ "$state" = "a torn end" ] && want=9 || want=0
        [ "$state" = "an index of something else" ] && want=$code
        check "verify, $state" $want $code
        check "verify, $state: touches nothing" "$before" "$(picture)"
        check "verify, $state: the same answer" "$(free "$maki" verify talk.jsonl 2>&1)" "$there"
    done
    out=$(frozen "$maki" history pin talk.jsonl 1 2>&1); check 'a change is refused: exit 10' 10 $?
    has 'with an error' 'may not be written' "$out"
    rm -f "$dir"/home/*.idx
    has 'readOnly is true' '"readOnly":true' "$(frozen "$maki" history status talk.jsonl --json)"
else
    echo "# neither root nor user namespaces: nothing can be made read-only here"
fi

# ---- where it may ---------------------------------------------------------------------------------------
rm -rf "$dir/home"; cp -a "$dir/kept" "$dir/home"; cd "$dir/home" || exit 1
rm -f ./*.idx
has 'readOnly is false when it may be written' '"readOnly":false' "$("$maki" history status talk.jsonl --json)"
check 'a missing index is written' yes "$([ -e talk.idx ] && echo yes)"
printf '{"role":"user","content":"切れ' >>talk.jsonl
before=$(sha256sum talk.jsonl talk.events.jsonl)
check 'a torn end is not shown' 4 "$("$maki" history effective talk.jsonl --json | wc -l)"
check 'and not cut off by a reader' "$before" "$(sha256sum talk.jsonl talk.events.jsonl)"

# ---- while somebody writes ------------------------------------------------------------------------------
# The lock of the log is taken for good: who would wait for it would never come back.
cp "$dir/kept/talk.jsonl" talk.jsonl
"$maki" history status talk.jsonl >/dev/null
row assistant '書いている途中' 7000 >>talk.jsonl
exec 8<talk.jsonl
flock -x 8
for command in "history log talk.jsonl --json" "history effective talk.jsonl --json" "history status talk.jsonl --json" \
    "history diff talk.jsonl 2 4 --json" "history export talk.jsonl" "session show talk.jsonl" "session status talk.jsonl" \
    "tokens count --messages talk.jsonl"; do
    # shellcheck disable=SC2086
    "$maki" $command 8<&- >out 2>&1; check "$command while somebody writes" 0 $?
done
check 'unpublished rows are not shown' 4 "$("$maki" history effective talk.jsonl --json 8<&- | wc -l)"
rm talk.idx
check 'nor waited for without an index' 5 "$("$maki" history effective talk.jsonl --json 8<&- | wc -l)"
check 'the index is not written then' no "$([ -e talk.idx ] && echo yes || echo no)"
exec 8<&-
check 'when the writer is gone, the rows are shown' 5 "$("$maki" history effective talk.jsonl --json | wc -l)"
check 'and the index is written' yes "$([ -e talk.idx ] && echo yes)"
tap_end
