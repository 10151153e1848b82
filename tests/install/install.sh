#!/usr/bin/env bash
# install.sh -- `make install` into a temporary directory; then what is there is used as a stranger would: the library from C, C++,
# Python and Node, the daemon from client libraries, man pages, completion in each shell, and every snippet of docs/embedding.md.
#
#     install.sh SOURCE PREFIX      prints TAP; the examples in Node need build/clients/examples (scripts/setup --tests)
set -u
source=$(realpath "$1")
prefix=$2
dir=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
. "$source/tests/cli/tap.sh"
node=$source/scripts/node
unset MAKI_CONFIG MAKI_URL LD_LIBRARY_PATH LD_PRELOAD
export HOME=$dir/home XDG_CONFIG_HOME=$dir/none MAKI_HOME=$dir/state LC_ALL=C.UTF-8
mkdir -p "$HOME" "$dir/copy"

# ok NAME COMMAND...: does it end with 0?  Otherwise its output is shown.
ok() {
    local name=$1 output
    shift
    output=$("$@" 2>&1 </dev/null)
    local rc=$?
    [ $rc = 0 ] || printf '%s\n' "$output" | sed 's/^/# /'
    check "$name" 0 $rc
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }

ok 'make install' make -s -C "$source" install DESTDIR="$dir/stage" PREFIX="$prefix"
at=$dir/moved # an installation may be moved
mv "$dir/stage$prefix" "$at"
export PATH=$at/bin:$PATH
lib=$(dirname "$(find "$at" -name libmaki.a)")
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib
cd "$dir/copy" || exit 1

# ---- what is there ----------------------------------------------------------------------------------
for file in bin/maki libexec/maki/maki-serve libexec/maki/maki-chat libexec/maki/maki-send.so libexec/maki/maki-fake-provider include/maki/maki.h \
    share/man/man1/maki.1 share/man/man5/maki.yaml.5 share/man/man7/maki-operations.7 share/bash-completion/completions/maki \
    share/zsh/site-functions/_maki share/fish/vendor_completions.d/maki.fish; do
    ok "$file" test -s "$at/$file"
done
check 'all headers' "$(ls "$source/include/maki")" "$(ls "$at/include/maki")"
check 'an archive that is not thin' '!<arch>' "$(head -c 7 "$lib/libmaki.a")"
check 'the command is the installed one' "$at/bin/maki" "$(command -v maki)"
check 'pkg-config knows the version' "$(maki version)" "maki $(pkg-config --modversion maki)"
ok 'pkg-config knows where the module for providers is' test -x "$(pkg-config --variable=moduledir maki)/maki-send.so"
declared=$(cat "$source"/include/maki/*.h | grep -oE '\bmaki_[a-z0-9_]+ ?\(' | tr -d ' (' | sort -u)
exported=$(nm -D --defined-only "$lib/libmaki.so" | awk '{ print $3 }' | sort)
check 'only what the headers declare leaves the library' '' "$(comm -13 <(echo "$declared") <(echo "$exported"))"
marked=$(cat "$source"/include/maki/*.h | tr '\n' ' ' | grep -oE 'MAKI_API [^;(]*maki_[a-z0-9_]+\(' | grep -oE '[a-z0-9_]+\($' | tr -d '(' | sort -u)
check 'and all of it' '' "$(comm -23 <(echo "$marked") <(echo "$exported"))"

# ---- the library --------------------------------------------------------------------------------------
for header in "$at"/include/maki/*.h; do echo "#include <maki/${header##*/}>"; done >all.cc
cat >>all.cc <<'EOF'
int main()
{
    maki_revision latest = MAKI_LATEST;
    maki_str text = MAKI_LIT("巻き");
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    return latest.seq == 0 || text.len != 6 || options.special || maki_str_of("x").len != 1 || !*maki_version();
}
EOF
for compiler in g++ clang++-14; do
    if ! command -v $compiler >/dev/null; then
        skip "every header in C++, $compiler" 'not installed'
        continue
    fi
    ok "every header in C++, $compiler" $compiler -std=c++11 -Wall -Wextra -pedantic -Werror all.cc $(pkg-config --cflags --libs maki) -o all
    ok 'and it runs' ./all
done
# talk NAME COMMAND...: the example appends seven messages, hides three behind a summary, writes a request and rewinds to four
talk() {
    local name=$1 output
    shift
    output=$("$@" "$name.jsonl" 2>&1) || printf '%s\n' "$output" | sed 's/^/# /'
    has "$name: the request has the newest message" 'And some tea, please.' "$(grep '^request.build' <<<"$output")"
    has "$name: condensed" '"type":"condense"' "$(cat "$name.events.jsonl")"
    has "$name: and rewound" '네, 드릴게요.' "$(maki history effective "$name.jsonl" | tail -1)"
    check "$name: nothing is lost" 7 "$(wc -l <"$name.jsonl")"
}
example=$source/examples
ok 'C: compiled by pkg-config' cc -Wall -Wextra -Werror "$example/c/conversation.c" $(pkg-config --cflags --libs maki) -o shared
talk c ./shared
has 'C: an error is a line with its code' '(NOTFOUND)' "$(./shared missing/talk.jsonl 2>&1)"
ok 'C: static' cc -Wall "$example/c/conversation.c" $(pkg-config --cflags maki) "$lib/libmaki.a" -lyaml -lcrypto -lutf8proc -lm -o static
talk c_static env -u LD_LIBRARY_PATH ./static
talk python python3 "$example/python/conversation.py"
cp "$example"/node/*.mjs .
ln -s "$source/build/clients/examples/node_modules" node_modules
talk node "$node" conversation.mjs

# ---- the daemon ---------------------------------------------------------------------------------------
# server NAME COMMAND...: start it; its address is in url
server() {
    local name=$1
    shift
    mkfifo "$name"
    "$@" >"$name" 2>"$name.err" &
    pids+=($!)
    exec {keep}<"$name"
    read -r url <&$keep
    url=${url##* }
}
server fake "$at/libexec/maki/maki-fake-provider" --port 0
fake=$url
printf 'llm:\n  provider: fake\n  fake: {model: fake-1, base_url: "%s"}\nsummary: {provider: fake, background: false}\n' "$fake" >maki.yaml
server daemon maki serve --port 0 --upstream "openai=$fake" --upstream "anthropic=$fake"
export MAKI_URL=$url OPENAI_API_KEY=sk-test ANTHROPIC_API_KEY=sk-test
# recorded NAME COMMAND...: the example talks twice in its session, and asks for its size
recorded() {
    local name=$1 output
    shift
    output=$("$@" 2>errors) || sed 's/^/# /' errors
    check "$name: four messages are in its session" 'messages 4' "$(tail -1 <<<"$output")"
    check "$name: and two answers came" 3 "$(wc -l <<<"$output")"
}
recorded 'OpenAI in Node' "$node" openai.mjs
recorded 'Anthropic in Node' "$node" anthropic.mjs
recorded 'HTTP in Python' python3 "$example/python/http_client.py"
has 'maki chat is found' 'You said: hello' "$(maki chat -p hello 2>&1)"
for i in $(seq 12); do printf '{"role":"user","content":"%s 関数 foo_%s を直す 修复 ✅"}\n{"role":"assistant","content":"はい"}\n' "$i" "$i"; done |
    maki history append long.jsonl >/dev/null
has 'the send module is found' '"summarizer":{"model":"fake-1"' "$(maki history condense long.jsonl --json)"

# ---- docs/embedding.md ----------------------------------------------------------------------------------
awk -v dir="$dir/copy" '
    /^```[a-z]/ { file = sprintf("%s/snippet%02d.%s", dir, ++count, substr($0, 4)); next }
    /^```/ { if (file) close(file); file = ""; next }
    file { print > file }' "$source/docs/embedding.md"
for snippet in snippet*; do
    sed -i "s|http://127.0.0.1:4747|$MAKI_URL|g" "$snippet"
    name="docs/embedding.md, $snippet"
    case $snippet in
    *.sh) ok "$name" bash -eo pipefail "$snippet" ;;
    *.python) ok "$name" python3 "$snippet" ;;
    *.js) mv "$snippet" "$snippet.mjs" && ok "$name" "$node" "$snippet.mjs" ;;
    *.c) ok "$name" cc -Wall -Wextra -Werror "$snippet" $(pkg-config --cflags --libs maki) -o snippet && ok 'and it runs' ./snippet ;;
    *) check "$name" 'a language that this test can run' "${snippet##*.}" ;;
    esac
done

# ---- man pages, completion ----------------------------------------------------------------------------
commands=$(maki help | awk '/^  [a-z]+  / && $1 != "maki" { print $1 }')
ok 'help lists the commands' test "$(wc -w <<<"$commands")" -gt 10
for command in $commands; do
    case $command in help | version) continue ;; esac
    page=$at/share/man/man1/maki-$command.1
    shown=$(groff -K utf8 -man -Tutf8 -P-cbou -ww -rLL=200n "$page" 2>&1)
    missing=$(maki "$command" --help | awk '/^ +--/ { print $1 }' | while read -r option; do [[ $shown == *"$option"* ]] || echo "$option"; done)
    check "man maki-$command has every option" '' "$missing"
done
for page in "$at"/share/man/man*/*; do
    check "${page##*/} is free of mistakes" '' "$(groff -K utf8 -man -Tutf8 -ww -z "$page" 2>&1)"
done
page=$(cat "$at/share/man/man7/maki-operations.7")
check 'every operation has its section' '' "$(maki op --list | awk '{ print $1 }' | while read -r op; do [[ $page == *".SS $op"* ]] || echo "$op"; done)"
page=$(tr -d '\\' <"$at/share/man/man5/maki.yaml.5")
check 'every setting is described' '' "$(maki config reference | sed -n 's/^| `\([^`]*\)` |.*/\1/p' | while read -r path; do [[ $page == *".B $path"* ]] || echo "$path"; done)"

completes_bash() {
    bash --norc -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _maki; printf "%s\n" "${COMPREPLY[@]}"' \
        "$at/share/bash-completion/completions/maki" "$@"
}
completes_fish() { fish --no-config -c 'source $argv[1]; complete -C "$argv[2..]"' "$at/share/fish/vendor_completions.d/maki.fish" "$@" | cut -f1; }
completes_zsh() {
    zsh -f -c 'compdef() { }; _describe() { print -l -- ${found%%:*} }; . $1; shift; words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; _maki' \
        zsh "$at/share/zsh/site-functions/_maki" "$@" | awk -v typed="${*: -1}" 'index($0, typed) == 1'
}
for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        skip "completion in $shell" 'not installed'
        continue
    fi
    check "$shell: commands" "$(echo "$commands" | sort)" "$(completes_$shell maki '' | sort)"
    check "$shell: a subcommand" condense "$(completes_$shell maki history cond)"
    check "$shell: its option" --keep "$(completes_$shell maki history condense --k)"
    check "$shell: an option of the daemon" --allow-origin "$(completes_$shell maki serve --allow-o)"
    check "$shell: operations" "$(maki op --list | awk '{ print $1 }')" "$(completes_$shell maki op '' | sort)"
    check "$shell: settings" autoCondenseContextPercent "$(completes_$shell maki config show autoCondenseContextP)"
    check "$shell: an agent" opencode "$(completes_$shell maki connect openc)"
done
tap_end
