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
wrong 'nothing like a command' 2 'unknown command 猫; there are serve, chat,' 猫
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
wrong 'no port' 2 '--port N: invalid value 八十' serve --port 八十

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
append 'an unknown role' 2 "line 1: no protocol knows the role \"usr\"; $roles" '{"role":"usr","content":"日本"}'
append 'no role' 2 'line 1: a message must be an object with a role' '{"content":"하나"}'
append 'not JSON' 2 'line 1: not JSON at byte' 'hello 🌊'
append 'an array' 2 'an object with a role' '[1]'
append 'not JSON at all: binary' 2 'line 1: not JSON' "$(head -c 40 "$maki" | tr '\0\n' '.')"
wrong 'by an operation' 2 "messages[1]: no protocol knows the role \"助手\"; $roles" op history.append \
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
has 'and the mistake is named' 'line 2: not JSON' "$out"
wrong 'an edit' 2 "no protocol knows the role \"usr\"; $roles" history edit talk.jsonl 1 '{"role":"usr","content":"x"}'
tap_end
