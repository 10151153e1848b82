#!/usr/bin/env bash
# window.sh -- after a turn, all commands report the same figures: tokens, window, threshold.
#
#     window.sh MAKI FAKE      FAKE is maki-fake-provider; prints TAP
set -u
maki=$(realpath "$1")
fake=$(realpath "$2")
dir=$(mktemp -d)
fake_pid=
trap '[ -z "$fake_pid" ] || kill "$fake_pid" 2>/dev/null; rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
unset MAKI_CONFIG
export HOME=$dir XDG_CONFIG_HOME=$dir/none MAKI_HOME=$dir/state LC_ALL=C.UTF-8
cd "$dir" || exit 1
# told: the figure of session.status, whose parts have tokens too
from() { "$@" 2>/dev/null | sed 's/.*"window":\([0-9]*\).*"windowFrom":"\([a-z]*\)".*/\1 \2/'; }
told() { "$maki" session status "$talk" --json 2>/dev/null | grep -o '"tokens":[0-9]*,"window"' | tr -dc 0-9; }
field() { grep -o "\"$1\":[0-9.]*" | head -1 | cut -d: -f2; }

coproc FAKE { exec "$fake" 2>/dev/null; }
fake_pid=$FAKE_PID
read -r said <&"${FAKE[0]}"
mkdir work
echo 'Be brief. 短く答える。' >work/AGENTS.md
printf 'llm:\n  provider: fake\n  fake: {model: fake-1, base_url: "%s", context_length: 32000}\nagents: {default: {workspace: work}}\nprofileThresholds: {fake-1: 60}\nlog: {level: info}\n' \
    "${said##* }" >maki.yaml

talk=$dir/talk.jsonl
for i in $(seq 1 6); do
    end=$("$maki" chat --session "$talk" --json -p "第 $i 回 $(printf 'src/a%s.c を直す，修复 고침 ' $(seq 1 40))" 2>log | grep '"type":"end"')
done
status=$("$maki" session status "$talk" --json 2>/dev/null)
tokens=$(told)
has 'the turn was answered' '"status":"OK"' "$end"
has 'the prompt is in it' '"part":"system","messages":0,"tokens":' "$(echo "$status" | grep -v '"part":"system","messages":0,"tokens":0')"
check 'the parts add up' "$tokens" "$(echo "$status" | grep -o '"messages":[0-9]*,"tokens":[0-9]*' | cut -d: -f3 | awk '{n += $1} END {print n}')"
check 'the chat: tokens' "$tokens" "$(echo "$end" | field contextTokens)"
check 'the chat: the window' 32000 "$(echo "$end" | field window)"
check 'session status: the window' 32000 "$(echo "$status" | field window)"
has 'session status: the source of the window' '"windowFrom":"configuration"' "$status"
has 'session status: the source in words' 'window          from: configuration' "$("$maki" session status "$talk" 2>/dev/null)"
has 'session status: the table of models' '1047576 table' "$(from "$maki" session status "$talk" --model gpt-4.1 --json 2>/dev/null)"
has 'session status: an unknown model' '200000 default' "$(from "$maki" session status "$talk" --model 海苔巻き-7b --json 2>/dev/null)"
printf 'log: {level: info}\n' >other.yaml
check 'session status: a setting that was removed' '200000 default' "$(MAKI_CONFIG=other.yaml from "$maki" session status "$talk" --json)"
check 'session status: the threshold' 60 "$(echo "$status" | field threshold)"
check 'history status' "$tokens" "$("$maki" history status "$talk" --json 2>/dev/null | field tokens)"
has '/status' "$tokens of 32000 tokens" "$(printf '/status\n' | "$maki" chat --session "$talk" 2>/dev/null)"

would=$("$maki" session compact "$talk" --dry-run --json 2>log)
check 'session compact: before' "$tokens" "$(echo "$would" | field tokensBefore)"
check 'session compact: the window' 32000 "$(echo "$would" | field contextWindow)"
check 'session compact: the threshold' 60 "$(echo "$would" | field threshold)"
has 'the log: context_check' "total_tokens=$tokens context_window=32000 " "$(cat log)"
has 'the log: compress_done' "tokens_after=$(echo "$would" | field tokensAfter) " "$(cat log)"
run=$("$maki" op manage.run "{\"conversation\":\"$talk\",\"preview\":true}" 2>/dev/null)
check 'manage.run' "$tokens 32000 60" "$(echo "$run" | field tokensBefore) $(echo "$run" | field contextWindow) $(echo "$run" | field threshold)"
prepared=$("$maki" op manage.prepare "{\"conversation\":\"$talk\"}" 2>/dev/null)
check 'manage.prepare' "$tokens" "$(echo "$prepared" | field contextPercent | awk '{printf "%.0f", $1 * 320}')"

done=$("$maki" history condense "$talk" --json 2>/dev/null)
check 'a step: before' "$tokens" "$(echo "$done" | field tokensBefore)"
after=$(echo "$done" | field tokensAfter)
check 'a step: after' "$after" "$(told)"
undone=$("$maki" history undo "$talk" --json 2>/dev/null)
check 'its undo' "$after $tokens" "$(echo "$undone" | field tokensBefore) $(echo "$undone" | field tokensAfter)"

done=$("$maki" session compact "$talk" --json 2>/dev/null)
after=$(echo "$done" | field tokensAfter)
check 'a run: before' "$tokens" "$(echo "$done" | field tokensBefore)"
check 'a run: after' "$after" "$("$maki" history status "$talk" --json 2>/dev/null | field tokens)"
has 'its record' "\"tokensBefore\":$tokens,\"tokensAfter\":$after," "$(tail -1 talk.events.jsonl)"
has 'history log shows it' "reason=\"forced\" action=\"condense\" tokensBefore=$tokens tokensAfter=$after messagesRemoved=" "$("$maki" history log "$talk" 2>/dev/null | tail -1)"
check 'its undo: one event' "$((1 + $(wc -l <talk.events.jsonl)))" "$("$maki" history undo "$talk" >/dev/null 2>&1; wc -l <talk.events.jsonl)"
check 'as it was' "$tokens" "$(told)"

# ---- a request that was too long for the provider --------------------------------------------------------
"$maki" chat --session "$talk" -p '長すぎる？ 太长 너무 길어 fake:overflow,first:1,chunk:1000' >/dev/null 2>log
check 'it is shortened once' 2 "$(grep -c context_check log)"
check 'context_check: the window of the model' context_window=32000 "$(grep -o 'context_window=[0-9]*' log | sort -u)"
check 'history status after that' "$(told)" "$("$maki" history status "$talk" --json 2>/dev/null | field tokens)"
# ---- a window that the provider reports ------------------------------------------------------------
printf 'llm:\n  provider: fake\n  fake: {model: models/fake, protocol: gemini, base_url: "%s"}\n' "${said##* }" >gemini.yaml
export MAKI_CONFIG=gemini.yaml
"$maki" chat --session "$dir/other.jsonl" -p 'こんにちは 你好 안녕 🍣' >/dev/null 2>&1
check 'session status: a window that the provider reported' '1048576 provider' "$(from "$maki" session status "$dir/other.jsonl" --json)"
tap_end
