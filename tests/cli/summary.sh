#!/usr/bin/env bash
# summary.sh -- summaries by the model that maki.yaml names, from every command that frees context; offline when it is down.
#
#     summary.sh MAKI FAKE      FAKE is maki-fake-provider; prints TAP
set -u
maki=$(realpath "$1")
fake=$(realpath "$2")
dir=$(mktemp -d)
fake_pid=
serve_pid=
trap 'kill $fake_pid $serve_pid 2>/dev/null; rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
unset MAKI_CONFIG
export HOME=$dir XDG_CONFIG_HOME=$dir/none MAKI_HOME=$dir/state LC_ALL=C.UTF-8
cd "$dir" || exit 1

coproc FAKE { exec "$fake" --scenario 'say:巻きの要約' 2>/dev/null; }
fake_pid=$FAKE_PID
read -r said <&"${FAKE[0]}"
url=${said##* }
printf 'llm:\n  provider: fake\n  fake: {model: fake-1, base_url: "%s"}\nsummary: {provider: fake, background: false}\n' \
    "$url" >maki.yaml
sed 's|base_url: "[^"]*"|base_url: "http://127.0.0.1:1"|' maki.yaml >down.yaml
echo 'log: {level: warn}' >>down.yaml

words=$(printf '関数 foo_%s を直す 修复 src/a%s.c ✅ ' $(seq 1 40))
talk() {
    for i in $(seq 1 12); do
        echo "{\"role\":\"user\",\"content\":\"$i: $words\"}"
        echo "{\"role\":\"assistant\",\"content\":\"$i: はい\"}"
    done | "$maki" history append "$1" >/dev/null
}
shown() { "$maki" history effective "$1"; }
usage() { "$maki" session list --json | sed 's/.*"tokenUsage":\({[^}]*}\).*/\1/'; }
asked='"summarizer":{"model":"fake-1","input":'

# ---- maki history condense --------------------------------------------------------------------------
talk a.jsonl
before=$(shown a.jsonl)
out=$("$maki" history condense a.jsonl --json); check 'history condense: exit 0' 0 $?
has 'its model and tokens' "$asked" "$out"
has 'its cost' '"cost":' "$out"
has 'the text of the summary is the model'\''s' '巻きの要約' "$(shown a.jsonl)"
has 'the event keeps them' "$asked" "$(cat a.events.jsonl)"
"$maki" history undo a.jsonl >/dev/null
check 'undone' "$before" "$(shown a.jsonl)"

# ---- a cheaper model of the same provider ------------------------------------------------------------
# writer: which model wrote, with `llm.$1.model: $2` and more settings
writer() {
    printf 'llm:\n  provider: %s\n  %s: {model: %s, protocol: anthropic, api_key: none, base_url: "%s"}\nsummary: {provider: %s, background: false}\n%s' \
        "$1" "$1" "$2" "$url" "$1" "${3-}" >cheaper.yaml
    MAKI_CONFIG=cheaper.yaml "$maki" history condense a.jsonl --json | grep -o '"summarizer":{"model":"[^"]*"' | cut -d'"' -f6
    "$maki" history undo a.jsonl >/dev/null
}
check 'Anthropic: the Haiku that it serves writes for Sonnet' claude-haiku-4-5 "$(writer anthropic claude-sonnet-4-5)"
check 'and for the newest Sonnet' claude-haiku-4-5 "$(writer anthropic claude-sonnet-5-5)"
check 'a Sonnet without a listed price: its own model' claude-3-7-sonnet-x "$(writer anthropic claude-3-7-sonnet-x)"
check 'the same model elsewhere: its own model' claude-sonnet-4-5 "$(writer mine claude-sonnet-4-5)"
check 'the prices of the configuration win' claude-sonnet-4-5 \
    "$(writer anthropic claude-sonnet-4-5 $'prices:\n  claude-sonnet-4-5: {input: 3}\n  claude-haiku-4-5: {input: 4}\n')"
check 'and may name any provider' claude-haiku-4-5 \
    "$(writer mine claude-sonnet-4-5 $'prices:\n  claude-sonnet-4-5: {input: 3}\n  claude-haiku-4-5: {input: 1}\n')"
check 'OpenAI serves no gpt-4-turbo: its own model' gpt-4 "$(writer openai gpt-4)"

# ---- the others -------------------------------------------------------------------------------------
id=$("$maki" session resolve --channel telegram --sender 1 --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
file=$MAKI_HOME/agents/default/sessions/$id.jsonl
talk "$file"
before=$(shown "$file")
check 'a session: nothing was asked yet' '{"input":0,"output":0}' "$(usage)"
out=$("$maki" session compact "$id" --json); check 'session compact: exit 0' 0 $?
has 'session compact: its model' "$asked" "$out"
has 'session compact: its text' '巻きの要約' "$(shown "$file")"
input=$(echo "$out" | sed 's/.*"summarizer":{"model":"fake-1",\("input":[0-9]*,"output":[0-9]*\)}.*/{\1}/')
check 'the usage of the session is that of its summary' "$input" "$(usage)"
"$maki" history undo "$file" >/dev/null
check 'session compact: one undo reverts it' "$before" "$(shown "$file")"
out=$("$maki" op manage.run <<<"{\"conversation\":\"$id\",\"force\":true}")
has 'manage.run from standard input: its model' "$asked" "$out"
"$maki" history undo "$file" >/dev/null
check 'manage.run: the same undo' "$before" "$(shown "$file")"
out=$("$maki" chat --session "$id" <<<$'/condense' 2>&1)
has '/condense: its text' '巻きの要約' "$(shown "$file")"
out=$("$maki" chat --session "$id" <<<$'/undo' 2>&1)
check '/condense: the same undo' "$before" "$(shown "$file")"

# ---- the daemon -------------------------------------------------------------------------------------
mkfifo serves
"$maki" serve --listen 127.0.0.1:0 --home "$MAKI_HOME" >serves 2>/dev/null &
serve_pid=$!
read -r said <serves
out=$(curl -s -H 'Content-Type: application/json' -d "{\"conversation\":\"$id\"}" "${said##* }/maki/ops/history.condense")
has 'POST /maki/ops/history.condense: its model' "$asked" "$out"

# ---- nobody there -----------------------------------------------------------------------------------
talk b.jsonl
out=$("$maki" --config down.yaml history condense b.jsonl --json 2>err); check 'nobody there: exit 0' 0 $?
has 'nobody there: the offline summary' 'Previous Conversation' "$(shown b.jsonl)"
has 'nobody there: the model was asked' "$asked" "$out"
has 'nobody there: the answer says that the offline summary stands in' '"fallback":{"summarizer":"offline","code":"UPSTREAM","message":"cannot reach fake' "$out"
has 'nobody there: so does the log' 'warn condense_failed reason=UPSTREAM fallback=offline' "$(cat err)"
has 'nobody there: and the event' '"fallback":{"summarizer":"offline","code":"UPSTREAM"' "$(tail -1 b.events.jsonl)"
printf 'llm:\n  provider: fake\n  fake: {model: fake-1, base_url: "%s"}\n  openai: {model: m}\nsummary: {provider: openai, background: false}\nlog: {level: warn}\n' "$url" >nokey.yaml
talk e.jsonl
out=$("$maki" --config nokey.yaml history condense e.jsonl --json 2>err); check 'a model without a key: exit 0' 0 $?
has 'a model without a key: the answer says why' '"fallback":{"summarizer":"offline","code":"DENIED","message":"openai needs an API key' "$out"
has 'a model without a key: the log' 'warn condense_failed reason=DENIED fallback=offline' "$(cat err)"
out=$("$maki" chat --config nokey.yaml --session "$PWD/e.jsonl" <<<$'/undo\n/condense' 2>&1)
has 'a model without a key: the chat says why' 'offline summary: openai needs an API key' "$out"
talk c.jsonl
out=$("$maki" --config /dev/null history condense c.jsonl --json); check 'nobody named: exit 0' 0 $?
case $out in *summarizer*) check 'nobody named: nobody asked' no yes ;; *) check 'nobody named: nobody asked' no no ;; esac
has 'nobody named: this is no fallback' '"factsKept"' "$(grep -v fallback <<<"$out")"
talk d.jsonl
out=$("$maki" op history.condense '{"conversation":"d.jsonl","summarizer":{"chunks":["言われた要約"],"cost":0.5}}')
has 'a stub in the call: its text' '言われた要約' "$(shown d.jsonl)"
has 'a stub in the call: its cost' '"cost":0.5' "$out"

# ---- what is loaded ---------------------------------------------------------------------------------
if ldd "$maki" >libs 2>/dev/null; then
    check 'the command itself is not linked to libcurl' 0 "$(grep -c curl libs)"
fi
tap_end
