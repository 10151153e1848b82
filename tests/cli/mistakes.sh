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
wrong 'no subcommand' 2 'a subcommand is missing' history
wrong 'of config' 2 'unknown subcommand chek: did you mean check?' config chek
wrong 'of tokens' 2 'unknown subcommand cuont: did you mean count?' tokens cuont
wrong 'an agent' 2 'unknown agent cluade: did you mean claude?' connect cluade
wrong 'an option' 2 'unknown option --jsn: did you mean --json' history status x.jsonl --jsn
wrong 'an option of serve' 2 'unknown option --prot: did you mean --port' serve --prot 1
wrong 'no port' 2 '--port N: invalid value 八十' serve --port 八十
tap_end
