#!/usr/bin/env bash
# walk.sh -- README.md and the guides in docs/ as a newcomer follows them: every line of every block of commands, in order, in a copy
# of this directory, with an empty home.
#
#     walk.sh MAKI FAKE-PROVIDER SOURCE      prints TAP
#
# Each line must end with 0.  A line that cannot be run as it stands has a row in `instead`; any other, a new one too, is run.
# Providers are the fake one, agents stand-ins that send one request; ports are free ones.
set -uo pipefail
programs=$(dirname "$(realpath "$1")")
provider=$(realpath "$2")
source=$(realpath "$3")
dir=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$dir"' EXIT
. "$source/tests/cli/tap.sh"
unset "${!MAKI_@}" "${!XDG_@}" "${!OPENAI_@}" "${!ANTHROPIC_@}"
export HOME=$dir/home LC_ALL=C.UTF-8
mkdir -p "$HOME" "$dir/bin" "$dir/copy/build"
cd "$dir/copy" || exit 1

# ---- what a newcomer has ------------------------------------------------------------------------------
cp -r "$source/README.md" "$source/src" .
ln -s "$programs/maki" "$provider" build
ln -s "$programs/maki" "$dir/bin"
git init -q . && git add README.md && echo 'A change.' >>README.md # for `git diff`
cat >"$dir/bin/claude" <<'END'
#!/bin/sh
exec curl -fsS "$ANTHROPIC_BASE_URL/v1/messages" -H 'content-type: application/json' -H 'x-api-key: sk-test' \
    -d '{"model": "claude-sonnet-4-5", "max_tokens": 99, "messages": [{"role": "user", "content": "What is in a.c?"}]}'
END
cat >"$dir/bin/your-program" <<'END'
#!/bin/sh
exec curl -fsS "$OPENAI_BASE_URL/chat/completions" -H 'content-type: application/json' -H 'authorization: Bearer sk-test' \
    -d '{"model": "gpt-4o", "messages": [{"role": "user", "content": "海苔とは何ですか。"}]}'
END
chmod +x "$dir"/bin/{claude,your-program}
export PATH=$dir/bin:$PATH

# server COMMAND: start it in the background; its address is in url
server() {
    local pipe=$dir/server${#pids[@]}
    mkfifo "$pipe"
    eval "exec $1" >"$pipe" 2>>"$dir/errors" </dev/null &
    pids+=($!)
    exec {keep}<"$pipe" # stays open: a server may write to it later
    read -r url <&"$keep"
    url=${url##* }
    [[ $url == http://* ]] || { cat "$dir/errors"; return 1; }
}
# daemon COMMAND: in place of the one that runs, which a newcomer ends with Ctrl-C
daemon() {
    [ -z "${daemon-}" ] || maki stop || return
    server "$1 --port 0 --upstream openai=$fake --upstream anthropic=$fake" || return
    daemon=$url
}
provider() { server "$1" && fake=$url; }
session() { maki session list --json | grep -o '"id":"[^"]*"' | head -1 | cut -d'"' -f4; }
server "$provider --port 0"
fake=$url

# ---- what is not run as it stands -----------------------------------------------------------------------
# instead LINE: in run what is run in its place; or in skip why nothing is
instead() {
    skip= run=$1
    case $1 in
    'apt-get install '*) skip='changes the system' ;;
    'git clone '*) skip='this is a copy' ;;
    'make run'*) run='daemon "build/maki serve"' ;;
    'make '*) skip='runs this test, or takes minutes' ;;
    'maki serve --unit'*) ;;
    'maki serve'*) run="daemon '${1%%  #*}'" ;;
    build/maki-fake-provider*) run="provider 'build/maki-fake-provider --port 0'" ;;
    'maki chat '*' -p '* | 'maki chat -p '* | *'| maki chat'*) ;;
    'maki chat'*) run="echo こんにちは | $1" ;; # in place of a terminal
    *' 7f3a'*) # the id of a session
        run=${1//7f3a/"$(session)"} ;;
    'agents/{agentId}/'*) skip='a list of files' ;;
    esac
    run=${run//http:\/\/127.0.0.1:4747/"${daemon-}"}
    run=${run//http:\/\/127.0.0.1:4748/"$fake"}
}

# line WHERE LINE
line() {
    local rc name="$1: ${2%%  *}" # in TAP, a # begins a directive
    instead "$2"
    if [ -n "$skip" ]; then
        n=$((n + 1))
        echo "ok $n - $name # SKIP $skip"
        return
    fi
    eval "$run" >"$dir/output" 2>&1 </dev/null
    rc=$?
    check "$name" 0 $rc
    [ $rc = 0 ] || { echo "$run"; cat "$dir/output"; } | sed 's/^/# /'
}

# configuration WHERE FILE: valid, and it works if it needs no key
configuration() {
    sed "s|http://127.0.0.1:4748|$fake|" "$2" >maki.yaml
    line "$1" 'maki config check'
    if grep -q 'provider: fake' maki.yaml; then line "$1" "maki chat -p 'What is nori?'"; fi
    talk_to_fake
}
# the provider of every line that asks a model
talk_to_fake() { printf 'llm:\n  provider: fake\n  fake: {model: fake-1, base_url: "%s"}\n' "$fake" >maki.yaml; }

# ---- the walk -----------------------------------------------------------------------------------------
# blocks FILE: each indented or fenced block in a file of its own, named after its first line
blocks() {
    rm -f "$dir"/block.*
    awk -v to="$dir/block" '
        function write(text) { if (!file) file = sprintf("%s.%04d", to, NR); print text > file }
        /^```/ { fenced = !fenced; file = ""; next }
        fenced { write($0); next }
        /^    / { write(substr($0, 5)); next }
        { file = "" }' "$1"
}
for page in README.md docs/{chat,serve,sessions,tokens,configuration}.md; do
    blocks "$source/$page"
    check "$page has commands" 1 "$([ "$(ls "$dir"/block.* 2>/dev/null)" ] && echo 1)"
    for block in "$dir"/block.*; do
        at="$page:$((10#${block##*.}))"
        if [[ $(head -1 "$block") =~ ^[A-Za-z]+:( |$) ]]; then
            configuration "$at" "$block"
            continue
        fi
        grep -q '^\$ ' "$block" && sed -i -n 's/^\$ //p' "$block" # the other lines are output: tokens.sh compares it
        while IFS= read -r text <&3; do
            [[ $text =~ ^\ *(#|$) ]] && continue
            [[ $text == 'maki chat'* && ! -e maki.yaml ]] && talk_to_fake # until here there is no configuration
            line "$at" "$text"
        done 3<"$block"
    done
done
tap_end
