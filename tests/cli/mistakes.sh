#!/usr/bin/env bash
# mistakes.sh -- what people mistype, and whether the error says the way out.
#
#     mistakes.sh MAKI      prints TAP
set -u
maki=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
cd "$dir" || exit 1
case $maki in /*) ;; *) maki=$OLDPWD/$maki ;; esac
export MAKI_HOME=$dir/home

# wrong NAME CODE WORDS ARG...: does `maki ARG...` fail with this exit code and these words?
wrong() {
    local name=$1 code=$2 words=$3 out
    shift 3
    out=$("$maki" "$@" 2>&1 </dev/null)
    check "$name: exit $code" "$code" $?
    has "$name" "$words" "$out"
}

# ---- names ----------------------------------------------------------------------------------------
wrong 'a command' 2 'maki: unknown command sesion: did you mean session?' sesion list
wrong 'an abbreviated command' 2 'did you mean history?' hist
wrong 'nothing like a command' 2 'unknown command 猫; there are serve, status, stop, chat,' 猫
wrong 'a subcommand' 2 'maki history: unknown subcommand condens: did you mean condense?' history condens x.jsonl
wrong 'of session' 2 'unknown subcommand lst: did you mean list?' session lst
wrong 'nothing like a subcommand' 2 'unknown subcommand 要約; there are append,' history 要約
wrong 'no subcommand' 2 'missing: subcommand; there are append, ' history
wrong 'no agent' 2 'missing: agent; there are claude, codex, ' connect
wrong 'of config' 2 'unknown subcommand chek: did you mean check?' config chek
wrong 'of tokens' 2 'unknown subcommand cuont: did you mean count?' tokens cuont
wrong 'an agent' 2 'unknown agent cluade: did you mean claude?' connect cluade
wrong 'an option' 2 'unknown option --jsn: did you mean --json' history status x.jsonl --jsn
wrong 'an option of serve' 2 'unknown option --prot: did you mean --port' serve --prot 1
wrong 'no port' 2 '--port N: invalid value 八十; a port is an integer from 0 to 65535' serve --port 八十
wrong 'no time' 2 '--idle-timeout TIME: invalid value soon; a time is 30s, 250ms or 5m' serve --idle-timeout soon
wrong 'no size' 2 '--max-body BYTES: invalid value 1x; a size is 64k, 10m or 1g' serve --max-body 1x
wrong 'no level' 2 '--log-level LEVEL: invalid value loud; it is debug, info, warn or error' serve --log-level loud
wrong 'no number of an operation' 2 '--limit N: not a number: -1' session list --limit -1
wrong 'of an argument' 2 'history: SEQ: not a number: many' history rewind x.jsonl many
wrong 'a revision' 2 '--seq N: not a number: x' history effective x.jsonl --seq x
out=$("$maki" help nope 2>&1); check 'a name that shares two letters was not meant' '' "$(echo "$out" | grep 'did you mean')"
wrong 'a file that is missing' 5 'cannot open there/is/none.jsonl: No such file or directory' history log there/is/none.jsonl
check 'files that are missing: the error alone' 'maki tokens: none.txt: No such file or directory' "$("$maki" tokens count none.txt 2>&1)"

# ---- appending by hand ----------------------------------------------------------------------------
# append NAME CODE WORDS INPUT: is it refused, and is nothing left behind?
append() {
    local out
    out=$(printf '%s\n' "$4" | "$maki" history append new.jsonl 2>&1)
    check "$1: exit $2" "$2" $?
    has "$1" "$3" "$out"
    check "$1: no file is left" '' "$(ls | grep '^new')"
}
roles='the roles are user, assistant, system, developer, tool, function and model'
append 'an unknown role' 2 "line 1: unknown role \"usr\"; $roles" '{"role":"usr","content":"日本"}'
append 'no role' 2 'line 1: a message must be an object with a role' '{"content":"하나"}'
append 'not JSON' 2 'line 1: invalid JSON at byte' 'hello 🌊'
append 'an array' 2 'an object with a role' '[1]'
append 'not JSON at all: binary' 2 'line 1: invalid JSON' "$(head -c 40 "$maki" | tr '\0\n' '.')"
wrong 'by an operation' 2 "messages[1]: unknown role \"助手\"; $roles" op history.append \
    '{"conversation":"new.jsonl","messages":[{"role":"user","content":"x"},{"role":"助手","content":"x"}]}'
wrong 'with the head of another' 6 'no conversation with this head' op history.append \
    '{"conversation":"new.jsonl","messages":[{"role":"user","content":"x"}],"expect":"11111111111111111111111111111111"}'
check 'nothing is left of these either' '' "$(ls | grep '^new')"
printf 'hello\nworld\n' >note.jsonl
out=$(echo '{"role":"user","content":"x"}' | "$maki" history append note.jsonl 2>&1)
check 'to a file that is not JSON: exit 2' 2 $?
has 'to a file that is not JSON' 'note.jsonl is not a messages file: its first line is not a JSON object' "$out"
wrong 'reading it' 2 'is not a messages file' history log note.jsonl
check 'it is as it was, without an index' 'hello|world note.jsonl' "$(paste -sd'|' note.jsonl) $(ls | grep '^note')"
printf '{"role":"user","content":"一"}\n{"role":"model","parts":[]}\n' | "$maki" history append talk.jsonl >/dev/null
out=$(printf '{"role":"user","content":"三"}\nx\n' | "$maki" history append talk.jsonl 2>&1)
check 'messages before a mistake are kept' 3 "$(wc -l <talk.jsonl)"
has 'and the mistake is named' 'line 2: invalid JSON' "$out"
check 'one of a thing is one' '1 message' "$(echo '{"role":"user","content":"하나"}' | "$maki" history append one.jsonl)"
wrong 'a condense of one message' 3 'too few visible messages to condense: 1' history condense one.jsonl
wrong 'an edit' 2 "unknown role \"usr\"; $roles" history edit talk.jsonl 1 '{"role":"usr","content":"x"}'

# ---- an altered row ---------------------------------------------------------------------------------
damaged() {
    rm -f d.*
    for i in 1 2 3 4 5 6; do echo "{\"role\":\"user\",\"content\":\"吾輩は猫 $i\"}"; done | "$maki" history append d.jsonl >/dev/null
    "$maki" history pin d.jsonl 2 >/dev/null
    echo '{"role":"user","content":"끝"}' | "$maki" history append d.jsonl >/dev/null
    sed -i "$1" d.jsonl
}
fsck() { "$maki" fsck "$@" d.jsonl 2>&1; }
damaged 's/none/none/'
fsck --repair >/dev/null; check 'nothing to repair: exit 0' 0 $?
damaged '4s/猫/犬/'
out=$(fsck); check 'listed only: exit 9' 9 $?
check 'what is wrong, and no more' 1 "$(grep -c 'message 4: this row is not what was written$' <<<"$out")"
out=$(fsck --repair); check 'an altered row: exit 1' 1 $?
has 'what was done with it' 'message 4: this row is not what was written; hidden from views; the row stays in the file' "$out"
check 'it is' 0 "$("$maki" history effective d.jsonl | grep -c 犬)"
out=$(fsck --repair); check 'again: nothing to do' '0 d.jsonl: ok, 7 messages, 2 events (1 event of earlier damage)' "$? $out"
damaged '4s/猫 4/猫 4444/'
fsck --repair >/dev/null
check 'of another length: hidden, too' '0 6' "$("$maki" history effective d.jsonl | grep -c 4444) $("$maki" history effective d.jsonl --json | wc -l)"
damaged '4s/猫/犬/'; rm d.idx
out=$(fsck --repair); check 'without an index: exit 1' 1 $?
has 'which messages it may be, and what was done' \
    'one of the messages 1 to 6, event 1: changed since this event was written; accepted as it is now; the change is noted' "$out"
check 'it is accepted' 1 "$("$maki" history effective d.jsonl | grep -c 犬)"
fsck >/dev/null; check 'and not found again' 0 $?
tap_end
