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
tap_end
