#!/usr/bin/env bash
# manage.sh -- runs of the context manager from the command line: configured, previewed, cancelled, undone.
#
#     manage.sh MAKI     prints TAP
set -u
maki=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
unset MAKI_CONFIG
export HOME=$dir XDG_CONFIG_HOME=$dir/none
cd "$dir" || exit 1

run() { "$maki" op manage.run "$1"; }
field() { sed "s/.*\"$1\":\([^,}]*\).*/\1/"; }

words=$(printf '関数 foo_%s を直す，修复错误 src/a%s.c 고침 ✅ ' $(seq 1 60))
for i in $(seq 1 120); do
    echo "{\"role\":\"user\",\"content\":\"$i: $words\"}"
    echo "{\"role\":\"assistant\",\"content\":\"$i: はい\"}"
done | "$maki" history append talk.jsonl >/dev/null
whole=$("$maki" history status talk.jsonl --json | field tokens)

# ---- figures from the configuration -----------------------------------------------------------------
has 'without a configuration: the default window' '"contextWindow":200000,"windowFrom":"default","threshold":75' \
    "$(run '{"conversation":"talk.jsonl","preview":true}')"
echo 'profiles: {海苔: {contextWindow: 64000, thresholdTokens: 1234}}' >maki.yaml
has './maki.yaml is read' '"contextWindow":64000,"windowFrom":"profile","threshold":75,"thresholdTokens":1234' \
    "$(run '{"conversation":"talk.jsonl","preview":true,"model":"海苔"}')"
echo 'contextWindow: 9000' >small.yaml
out=$("$maki" --config small.yaml op manage.run '{"conversation":"talk.jsonl"}' 2>&1); check 'a small window: refused, exit 3' 3 $?
has 'a small window: what to do' 'a window of 9000 tokens (configuration) is under window.minimum, 16000; set that lower' "$out"
has 'a small window: config check warns' 'contextWindow is 9000, under window.minimum (16000)' "$("$maki" config check small.yaml 2>&1)"
printf 'x: 1\ncontextWindow: 九千\n' >maki.yaml
out=$(run '{"conversation":"talk.jsonl"}' 2>&1); check 'a broken maki.yaml: exit 2' 2 $?
has 'a broken maki.yaml: every mistake' 'maki.yaml:1:1: error: unknown setting x' "$out"
has 'a broken maki.yaml: with its line' 'maki.yaml:2:16: error: contextWindow must be' "$out"
rm maki.yaml

# ---- preview ----------------------------------------------------------------------------------------
window=$((whole * 100 / 79 ))
before=$(ls; cat talk.jsonl talk.idx | md5sum)
would=$(run "{\"conversation\":\"talk.jsonl\",\"contextWindow\":$window,\"maxTokens\":100,\"preview\":true}")
has 'a preview reports the step' '"steps":[{"step":"' "$would"
has 'a preview is marked' '"preview":true' "$would"
has 'what would be hidden' '"hides":[[' "$would"
has 'and the summary in its place' '"summary":"' "$would"
check 'as many as would be removed' "$(echo "$would" | field messagesRemoved)" \
    "$(python3 -c 'import json, sys; print(sum(b - a + 1 for a, b in json.load(sys.stdin)["hides"]))' <<<"$would")"
check 'a preview changes no file' "$before" "$(ls; cat talk.jsonl talk.idx | md5sum)"

"$maki" history fork talk.jsonl branch.jsonl 240 >/dev/null
check 'a preview of a fork is the same' "$(echo "$would" | field tokensAfter)" \
    "$(run "{\"conversation\":\"branch.jsonl\",\"contextWindow\":$window,\"maxTokens\":100,\"preview\":true}" | field tokensAfter)"
check 'the fork still has one event' 1 "$(wc -l <branch.events.jsonl)"

# ---- a summary in advance ---------------------------------------------------------------------------
prepare() { "$maki" --config "$1" op manage.prepare "{\"conversation\":\"ahead.jsonl\",\"contextWindow\":$((whole * 100 / $2))}"; }
cp talk.jsonl ahead.jsonl
echo "language: ko" >ko.yaml
echo 'summary: {background: false}' >off.yaml
echo 'summary: {background_percent: 30}' >early.yaml
has 'far from the threshold: not due' '"due":false' "$(prepare ko.yaml 40)"
has 'summary.background_percent: due earlier' '"due":true' "$(prepare early.yaml 40)"
has 'summary.background: false: never due' '"due":false' "$(prepare off.yaml 70)"
has 'near the threshold: due' '"due":true,"contextPercent":70' "$(prepare ko.yaml 70)"
has 'a prepared summary is not written again' '"made":false' "$(prepare ko.yaml 70)"
check 'preparing hides nothing' "$whole" "$("$maki" history status ahead.jsonl --json | field tokens)"
cp talk.jsonl spoken.jsonl
"$maki" --config ko.yaml op manage.run "{\"conversation\":\"spoken.jsonl\",\"contextWindow\":$window,\"maxTokens\":100,\"policy\":\"roo\"}" >/dev/null
has 'language: the headings of a summary' '## 이전 대화' "$(tail -3 spoken.events.jsonl)"

# ---- automatic condensing off ------------------------------------------------------------------------
cp talk.jsonl off.jsonl
off=$(run "{\"conversation\":\"off.jsonl\",\"contextWindow\":$((whole * 100 / 120)),\"autoCondenseContext\":false}")
has 'autoCondenseContext: false: it hides messages' '"action":"window"' "$off"
has 'and asks no summarizer' '{"step":"condense","refused":"AUTO_CONDENSE_OFF"}' "$off"
check 'nothing is condensed' 0 "$(grep -c '"type":"condense"' off.events.jsonl)"

# ---- a run and its undo ------------------------------------------------------------------------------
printf 'log: {level: info}\n' >log.yaml
does=$("$maki" --config log.yaml op manage.run "{\"conversation\":\"talk.jsonl\",\"contextWindow\":$window,\"maxTokens\":100}" 2>log)
check 'the run does what the preview reported' "$(echo "$would" | field tokensAfter)" "$(echo "$does" | field tokensAfter)"
has 'log: before' "info context_check total_tokens=$whole context_window=$window usage=0.79" "$(cat log)"
has 'log: before, the action' 'messages=240 action=compress session=talk' "$(cat log)"
has 'log: begun' 'info compress_start usage=0.79' "$(cat log)"
has 'log: done' 'info compress_done reduction=0.' "$(cat log)"
check 'no lines unless log.level is set' '' "$(run "{\"conversation\":\"talk.jsonl\",\"contextWindow\":$window}" 2>&1 >/dev/null)"
has 'its record is in the log' '"of":"manage","reason":"threshold"' "$(tail -1 talk.events.jsonl)"
has 'undone' "tokensAfter    $whole" "$("$maki" history undo-run talk.jsonl)"
check 'all messages are in view again' "$whole" "$("$maki" history status talk.jsonl --json | field tokens)"
out=$("$maki" history undo-run talk.jsonl 2>&1); check 'nothing to undo: exit 3' 3 $?
has 'what was undone is not done again at once' '"waits":true' \
    "$(run "{\"conversation\":\"talk.jsonl\",\"contextWindow\":$window,\"maxTokens\":100}")"
has 'except when forced' '"action":"' "$(run "{\"conversation\":\"talk.jsonl\",\"contextWindow\":$window,\"force\":true}" | grep -v '"waits"')"
"$maki" verify talk.jsonl >/dev/null; check 'the log verifies' 0 $?
tap_end
