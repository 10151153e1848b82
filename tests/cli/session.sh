#!/usr/bin/env bash
# session.sh -- the command maki session.
#
#     session.sh MAKI      prints TAP
set -u
maki=$1
case $maki in /*) ;; *) maki=$PWD/$maki ;; esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
cd "$dir" || exit 1
export MAKI_HOME=$dir/state
s() { "$maki" session "$@" 2>&1; }

# ---- none -----------------------------------------------------------------------------------------
has 'without sessions the message says where they come from' 'maki serve' "$(s list)"
check 'and as JSON' '{"sessions":[],"all":0,"agents":[],"clients":[],"models":[]}' "$(s list --json)"

# ---- two ------------------------------------------------------------------------------------------
sessions=$MAKI_HOME/agents/proxy/sessions
mkdir -p "$sessions" "$MAKI_HOME/agents/default/sessions"
one=aaaa1111-0000-4000-8000-000000000001 two=aaaa2222-0000-4000-8000-000000000002
echo '{"type":"header","version":1,"sessionId":"'$one'","createdAt":1700000000000,"sessionKey":"agent:proxy:仕事"}' >"$sessions/$one.jsonl"
printf '%s\n' '{"role":"user","content":"<context>ignored</context>"}' \
    '{"role":"user","content":[{"type":"text","text":"<more>"},{"type":"text","text":"会議の議事録をまとめて 📝"}]}' \
    '{"role":"assistant","content":"はい。","meta":{"model":"m-1"}}' | "$maki" history append "$sessions/$one.jsonl" >/dev/null
touch -d '2 hours ago' "$sessions/$one.jsonl"
printf '%s\n' '{"role":"user","content":"안녕"}' '{"role":"assistant","content":"안녕하세요"}' |
    "$maki" history append "$MAKI_HOME/agents/default/sessions/$two.jsonl" >/dev/null

list=$(s list)
has 'the title: the beginning of the first user message' '会議の議事録をまとめて' "$list"
has 'how long ago' '2 h' "$list"
has 'the model' 'm-1' "$list"
has 'the newest comes first' '안녕' "$(sed -n 2p <<<"$list")"
check 'of one agent only' 1 "$(s list --agent default --json | grep -o '"id"' | wc -l)"
has 'there are more' '1 more' "$(s list --limit 1)"
has 'its key, as JSON' '"sessionKey":"agent:proxy:仕事"' "$(s list --json)"

# ---- one ------------------------------------------------------------------------------------------
has 'by its id' '3 messages in view of 3' "$(s show $one)"
has 'by a prefix of its id' '会議の議事録' "$(s show aaaa1)"
check 'the last ones' 1 "$(s show aaaa1 --limit 1 --json | wc -l)"
check 'as JSON: the rows' '{"role":"assistant","content":"はい。","meta":{"model":"m-1"}}' "$(s show aaaa1 --limit 1 --json)"

# ---- which session a message belongs to -----------------------------------------------------------
export MAKI_CONFIG=$dir/maki.yaml
: >"$MAKI_CONFIG"
id() { s "$@" --json | grep -o '"id":"[^"]*"' | head -1 | cut -d'"' -f4; }
key() { s "$@" --json | grep -o '"sessionKey":"[^"]*"' | cut -d'"' -f4; }
r='resolve --channel telegram --sender さくら'
check 'per sender by default' 'agent:default:telegram:さくら' "$(key $r)"
sakura=$(id $r)
check 'the same session again' "$sakura" "$(id $r)"
check 'a file named by its id, with a header' '{"type":"header","version":1,"sessionId":"'$sakura'",' \
    "$(head -c $((50 + ${#sakura})) "$MAKI_HOME/agents/default/sessions/$sakura.jsonl" | grep -o '^.*"sessionId":"[^"]*",')"
check 'per group' 'agent:default:discord:guild:channel' "$(key resolve --channel discord --sender U1 --group guild:channel --scope per-group)"
check 'global' 'agent:work:global' "$(key resolve --channel slack --sender U1 --agent work --scope global)"
check 'a thread by its parent message' 'agent:default:slack:1700.5' "$(key resolve --channel slack --sender U1 --group C1 --thread 1700.5)"
has 'a new session is marked' 'active, new' "$(s resolve --channel slack --sender U2)"
echo 'agents: {default: {scope: per-group}, work: {scope: global}}' >"$MAKI_CONFIG"
check 'agents.*.scope: per-group' 'agent:default:slack:C9' "$(key resolve --channel slack --sender U1 --group C9)"
check 'agents.*.scope: global' 'agent:work:global' "$(key resolve --channel slack --sender U7 --agent work)"
: >"$MAKI_CONFIG"
has 'without a sender' 'the sender is missing' "$(s resolve --channel slack)"
has 'an unknown scope' 'global, per-group or per-sender' "$(s resolve --channel a --sender b --scope mine)"
s resolve --channel telegram --sender '../../../../tmp/x' >/dev/null
check 'a name never becomes a path' '' "$(find "$dir" -name 'x*' -newer "$MAKI_CONFIG")"
check 'by its key' 0 "$(s show agent:default:telegram:さくら --json | wc -l)"

# ---- what holds for it ------------------------------------------------------------------------------
has 'overrides' '{"thinking":"medium","maxTokens":4096}' "$(s set $sakura --thinking medium --max-tokens 4096)"
has 'one override removed' '"overrides":{"maxTokens":4096}' "$(s set $sakura --thinking default --json)"
has 'an unknown level' 'off, minimal, low, medium or high' "$(s set $sakura --thinking much)"
rm "$MAKI_HOME/agents/default/sessions.json"
has 'they are not lost with sessions.json' '"overrides":{"maxTokens":4096}' "$(s $r --json)"
new=$(id $r --new)
check '--new: the new session takes the key' 1 "$([ "$new" != "$sakura" ] && echo 1)"
check 'and is found by the key' "$new" "$(id $r)"
has 'it has the overrides' '"overrides":{"maxTokens":4096}' "$(s $r --json)"
has 'the old one is archived' '(archived)' "$(s list)"
has 'a taken key cannot be used again' 'has this key; rename or archive that one first' "$(s set $sakura --state active)"

# ---- the view of all --------------------------------------------------------------------------------
view=$MAKI_HOME/agents/default/sessions.json
before=$(s list --json --agent default)
for damage in '' '{"entries":{' '[]' 'not JSON'; do
    printf '%s' "$damage" >"$view"
    touch -d '1 minute ago' "$view"
    check "sessions.json damaged ('$damage'): nothing is lost" "$before" "$(s list --json --agent default | sed 's/,"note":.*/}/')"
done
printf '{"entries":{' >"$view"
touch -d '1 minute ago' "$view"
has 'a corrupt index is reported' 'was corrupt and was rebuilt' "$(s list)"
rm "$view"; mkdir "$view"
has 'a directory in its place: what to do' 'move it away' "$(s list)"
check 'and nothing is lost' "$before" "$(s list --json --agent default | sed 's/,"note":.*/}/')"
rmdir "$view"
s list >/dev/null
flock "$MAKI_HOME/agents/default/sessions.lock" true; check 'the lock is free afterwards' 0 $?
has 'entries have the seed'"'"'s fields' '"messageCount":0,"tokenUsage":{"input":0,"output":0},"overrides":{"maxTokens":4096},"state":"archived"' "$(cat "$view")"

# ---- how full, and with what ------------------------------------------------------------------------
for i in 1 2 3 4 5 6; do
    printf '%s\n' '{"role":"user","content":"質問 '$i': 今日の会議は何時ですか？"}' \
        '{"role":"assistant","content":null,"tool_calls":[{"id":"c'$i'","type":"function","function":{"name":"calendar","arguments":"{}"}}]}' \
        '{"role":"tool","tool_call_id":"c'$i'","content":"会議は午後三時からです。場所は二階の会議室、参加者は五人です。"}' \
        '{"role":"assistant","content":"午後三時からです。","meta":{"model":"gpt-4o"}}'
done | "$maki" history append $new >/dev/null
status=$(s status $new --json)
has 'four figures: usage' '"contextUsage":"' "$status"
has 'four figures: messages' '"messagesCount":24' "$status"
has 'four figures: compressions' '"compressionCount":0' "$status"
has 'four figures: the last one' '"lastCompression":"never"' "$status"
has 'the window by the model' '"window":128000,"countedFor":"gpt-4o","exact":true' "$status"
has 'calls' '"part":"toolCalls","messages":6' "$status"
has 'results' '"part":"toolResults","messages":6' "$status"
total=$("$maki" history status $new --json | grep -o '"tokens":[0-9]*')
has 'the parts add up' "$total,\"window\"" "$status"
has 'another window' '"window":16000' "$(s status $new --window 16000 --json)"
has 'for people' 'toolResults' "$(s status $new)"
has 'share of the window' 'of 128000 tokens for gpt-4o' "$(s status $new)"

words=$(printf '長い出力です。%.0s' {1..300})
for i in 1 2 3 4 5 6 7 8; do
    printf '%s\n' '{"role":"user","content":[{"type":"text","text":"'"$words"'"},{"type":"text","text":"'"$i $words"'"}]}' \
        '{"role":"assistant","content":"はい。","meta":{"model":"gpt-4o"}}'
done | "$maki" history append long.jsonl >/dev/null
"$maki" history truncate long.jsonl --fraction 0.4 >/dev/null
for seq in 1 11 15; do
    for block in 0 1; do "$maki" history trim long.jsonl $seq --block $block --head 50 --tail 50 >/dev/null; done
done
total=$("$maki" history status long.jsonl --json | grep -o '"tokens":[0-9]*')
has 'the parts add up after pruning' "$total,\"window\"" "$(s status long.jsonl --json)"

has 'pin' 'Pinned (event' "$(s pin $new 3)"
has 'it is counted' '"pinned":1' "$(s status $new --json)"
has 'unpin' 'Unpinned (event' "$(s unpin $new 3)"
has 'pin needs a number' 'missing: SEQ' "$(s pin $new)"
has 'no such message' 'message 99 is not' "$(s pin $new 99)"

# ---- compact ----------------------------------------------------------------------------------------
out=$(s compact $new --json)
has 'compact reports' '"reason":"forced"' "$out"
has 'it is counted' '"compressionCount":1,"lastCompression":"just now"' "$(s status $new --json)"
has 'an unknown policy' 'unknown policy' "$(s compact $new --policy nope)"
"$maki" history undo $new >/dev/null
has 'after undo it does not count' '"compressionCount":0' "$(s status $new --json)"
has 'compact for people' 'messages out of view' "$(s compact $new --policy roo)"
"$maki" history undo $new >/dev/null
rows=$("$maki" history status $new --json)
s compact $new --dry-run >/dev/null
check 'a dry run changes nothing' "$rows" "$("$maki" history status $new --json)"

# ---- what cannot be read is not told as missing ------------------------------------------------------
mkdir -p "$MAKI_HOME/agents/loop"; ln -s sessions "$MAKI_HOME/agents/loop/sessions"
has 'by a key, in a directory that cannot be read' 'the directory of the sessions' "$(s show agent:loop:telegram:1)"
rm -r "$MAKI_HOME/agents/loop"

# ---- turn limits ------------------------------------------------------------------------------------
limit() { s limit $new --dry-run --json "$@" | grep -o '"limit":[0-9]*' | cut -d: -f2; }
check 'the seed'"'"'s limits: the least wins' 30 "$(limit)"
echo 'turnLimits: {global: 7}' >"$MAKI_CONFIG"
check 'turnLimits.global' 7 "$(limit)"
echo 'turnLimits: {perUser: 9}' >"$MAKI_CONFIG"
check 'turnLimits.perUser' 9 "$(limit)"
echo 'turnLimits: {perProvider: {openai: 6, anthropic: 3, mine: 2}}' >"$MAKI_CONFIG"
check 'turnLimits.perProvider.*, by the model' 6 "$(limit)"
check 'or by the provider given' 2 "$(limit --provider mine)"
echo 'turnLimits: {global: 0, perUser: 0, perProvider: {openai: 0}}' >"$MAKI_CONFIG"
check '0 is no limit' 0 "$(limit)"
echo 'agents: {default: {maxTurns: 4}}' >"$MAKI_CONFIG"
check 'agents.*.maxTurns' 4 "$(limit)"
has 'over the limit: a fifth is hidden at once' '"turns":5,"left":3' "$(s limit $new --json)"
has 'then there is nothing to hide' 'nothing to hide' "$(s limit $new)"
has 'it can be undone' 'Undone' "$("$maki" history undo $new)"
: >"$MAKI_CONFIG"
has 'a session without a channel has no limit' '"limit":0' "$(s limit $one --json)"

# ---- an empty one ----------------------------------------------------------------------------------
s resolve --agent blank --channel mail --sender 空 >/dev/null
out=$(s status mail:空)
has 'nothing is 0% of the window' 'context usage   0%, 0 of ' "$out"
has 'in JSON too' '"contextUsage":"0%","tokens":0,' "$(s status mail:空 --json)"
rm -r "$MAKI_HOME/agents/blank"

# ---- names ----------------------------------------------------------------------------------------
has 'a session by its name' '会議の議事録' "$(s show 仕事)"
check 'in every command' "$(s status agent:proxy:仕事 --json)" "$(s status 仕事 --json)"
check 'of history, too' 0 "$("$maki" history status 仕事 >/dev/null; echo $?)"
has 'the list shows the name' ' 仕事 ' "$(s list)"
has 'export' '会議の議事録' "$(s export 仕事 --format openai)"
echo '{"type":"header","version":1,"sessionId":"x","createdAt":1,"sessionKey":"agent:default:仕事"}' >"$MAKI_HOME/agents/default/sessions/name-of-two.jsonl"
s list >/dev/null
has 'one of two agents: the keys' 'several sessions are named 仕事: ' "$(s show 仕事)"
for key in agent:default:仕事 agent:proxy:仕事; do has 'each of them' "$key" "$(s show 仕事)"; done
rm "$MAKI_HOME/agents/default/sessions/name-of-two.jsonl"; s list >/dev/null
has 'rename' 'agent:proxy:会議 🗒' "$(s rename 仕事 '会議 🗒')"
has 'found under the new name' '会議の議事録' "$(s show '会議 🗒')"
has 'not under the old one' 'there is no conversation 仕事' "$(s show 仕事)"
rm -f "$MAKI_HOME/agents/proxy/sessions.json"; s rename '会議 🗒' 仕事 >/dev/null
has 'and back, also from the transcripts alone' '会議の議事録' "$(s show 仕事)"
s rename $two 둘째 >/dev/null; s rename $one 둘째 >/dev/null
has 'the name of another agent is free' 'agent:proxy:둘째' "$(s list --json)"
s rename agent:proxy:둘째 仕事 >/dev/null
for bad in 'a/b' '' 'agent:x:y' 'a"b'; do has "no name: $bad" 'a name' "$(s rename $one "$bad")"; done
id=deadbeef-0000-4000-8000-000000000009
echo '{"role":"user","content":"消して 🗑"}' | "$maki" history append "$MAKI_HOME/agents/default/sessions/$id.jsonl" >/dev/null
"$maki" history fork deadbeef "$MAKI_HOME/agents/default/sessions/fork-of-it.jsonl" >/dev/null
out=$(s delete deadbeef </dev/null); check 'delete without a terminal: exit 2' 2 $?
has 'it says how' 'add --yes' "$out"
has 'one that has forks is kept' 'fork-of-it is a fork of it' "$(s delete deadbeef --yes)"
check 'delete' 'Deleted fork-of-it.' "$(s delete fork-of-it --yes)"
check 'and the first one' 'Deleted deadbeef.' "$(s delete deadbeef --yes)"
check 'no file of them is left' '' "$(ls "$MAKI_HOME/agents/default/sessions" | grep 'deadbeef\|fork-of-it')"
has 'an operation needs a yes' NOT_CONFIRMED "$("$maki" op session.delete "{\"conversation\":\"$two\"}" 2>&1)"
has 'only sessions are deleted' 'only a session' "$(cp "$sessions/$one.jsonl" own.jsonl; s delete ./own.jsonl --yes)"
title() { s list --title "$1" --json | grep -o '"id":"[^"]*"' | cut -d'"' -f4 | xargs; }
check 'by words of the title' $one "$(title 議事録)"
check 'in any order' $one "$(title '議事録　会議')"
check 'or of the name' $one "$(title 仕事)"
check 'all of them' '' "$(title '議事録 찾을수없음')"


# ---- forks and thresholds -------------------------------------------------------------------------
fork=$(s fork 仕事 --json)
has 'a fork has the title' '"title":"仕事"' "$fork"
forked=$(grep -o '"id":"[^"]*"' <<<"$fork" | cut -d'"' -f4)
has 'and the messages' '会議の議事録' "$(s show $forked)"
check 'it is listed by its title' 2 "$(s list --title 仕事 --json | grep -o '"title":"仕事"' | wc -l)"
has 'no message to fork at' 'there is no message 99' "$(s fork 仕事 99)"
has 'only a session is forked' 'only a session' "$(s fork ./own.jsonl)"
has 'a threshold' '"threshold":60' "$(s set $forked --threshold 60)"
has 'is effective' '"threshold":60' "$(s status $forked --json)"
has 'the session it comes from has none' '"threshold":75' "$(s status 仕事 --json)"
for bad in 4 101; do has "not a threshold: $bad" 'from 5 to 100 percent' "$(s set $forked --threshold $bad)"; done
s set $forked --threshold default >/dev/null
has 'back to the general one' '"threshold":75' "$(s status $forked --json)"
check 'a fork can be deleted' "Deleted $forked." "$(s delete $forked --yes)"

# ---- errors ---------------------------------------------------------------------------------------
has 'an ambiguous prefix' 'several ids begin with aaaa: ' "$(s show aaaa)"
for id in $one $two; do has 'each of the ids' "$id" "$(s show aaaa)"; done
s show aaaa >/dev/null; check 'an ambiguous prefix: exit 2' 2 $?
has 'no match' 'there is no conversation nope' "$(s show nope)"
s show nope >/dev/null; check 'no match: exit 5' 5 $?
has 'no id' 'missing: ID' "$(s show)"
has 'no subcommand' 'list, rename, resolve, set, show, status' "$(s)"
has 'an unknown subcommand' 'unknown subcommand frobnicate' "$(s frobnicate)"
has 'not a number' 'not a number: many' "$(s list --limit many)"
has 'help has an example' 'maki session show 7f3a' "$("$maki" session --help)"
tap_end
