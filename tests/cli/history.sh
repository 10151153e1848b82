#!/usr/bin/env bash
# history.sh -- the command maki history: a conversation on disk, changed and read.
#
#     history.sh MAKI      prints TAP
set -u
maki=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
cd "$dir" || exit 1
case $maki in /*) ;; *) maki=$OLDPWD/$maki ;; esac

h() { "$maki" history "$@"; }
visible() { h status "$1" --json | sed 's/.*"visible":\([0-9]*\).*/\1/'; }
view() { h effective "$1" --json; }

long=$(head -c 700 /dev/zero | tr '\0' x)
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    role=user; [ $((i % 2)) = 0 ] && role=assistant
    echo "{\"role\":\"$role\",\"content\":\"$i 吾輩は猫である src/file$i.ts $long\",\"ts\":${i}000,\"extra\":[1.50]}"
done >rows

# ---- writing and seeing ------------------------------------------------------------------------
check 'append reports how many there are' '12 messages' "$(h append talk.jsonl <rows)"
check 'the file has the rows, byte for byte' '' "$(diff rows talk.jsonl)"
check 'the first view has all messages' '' "$(view talk.jsonl | diff rows -)"
check 'wc -l is the count' 12 "$(wc -l <talk.jsonl)"
check 'files are readable by their owner only' '600 600' "$(stat -c %a talk.jsonl talk.idx | xargs)"
has 'log shows each message' '猫である src/file7.ts' "$(h log talk.jsonl)"

# ---- steps and undo ----------------------------------------------------------------------------
out=$(h condense talk.jsonl)
has 'condense' 'Condensed' "$out"
has 'it reports how many facts the summary kept' 'facts kept' "$out"
has 'the event has them, too' '"factsLost":' "$(tail -n 1 talk.events.jsonl)"
check 'condensed: first, summary, last three' 5 "$(visible talk.jsonl)"
has 'the summary names the files' 'src/file5.ts' "$(view talk.jsonl)"
has 'the summary is a message of its own' '"isSummary":true' "$(view talk.jsonl)"
check 'the view before is still there' '' "$(h effective talk.jsonl --seq 12 --ev 0 --json | diff rows -)"
has 'undo says which step it was' 'Undone: the condense of event 1 (event 2): 8 messages back in view, ' "$(h undo talk.jsonl)"
check 'undone: everything, byte for byte' '' "$(view talk.jsonl | diff rows -)"
out=$(h undo talk.jsonl 2>&1); check 'nothing left to undo: exit 3' 3 $?
out=$(h undo talk.jsonl 2 --json)
has 'undo of the undo names its step' '"undone":2,"undoneType":"undo"' "$out"
check 'condensed again' 5 "$(visible talk.jsonl)"
has 'expand' 'Expanded' "$(h expand talk.jsonl 4)"
check 'expanded' 12 "$(visible talk.jsonl)"
has 'pin' 'Pinned' "$(h pin talk.jsonl 3)"
has 'truncate' 'Truncated' "$(h truncate talk.jsonl)"
has 'truncated, except the pinned message' '"3 吾輩' "$(view talk.jsonl)"
has 'the marker has the number of messages' 'messages hidden]' "$(view talk.jsonl)"
has 'trim' 'Trimmed' "$(h trim talk.jsonl 12 --head 20 --tail 10)"
has 'trimmed' 'characters trimmed' "$(view talk.jsonl)"
has 'rewind' 'Rewound' "$(h rewind talk.jsonl 6)"
check 'rewound to before the changes' '' "$(view talk.jsonl | diff <(head -n 6 rows) -)"
has 'edit' 'Edited' "$(h edit talk.jsonl 5 '다시 해 주세요')"
check 'edited' '{"role":"user","content":"다시 해 주세요"}' "$(view talk.jsonl | tail -n 1)"
h append answers.jsonl <rows >/dev/null
has 'edit of an answer' 'Edited' "$(h edit answers.jsonl 4 '「そうです」 🍵')"
check 'TEXT keeps the role of the message' '{"role":"assistant","content":"「そうです」 🍵"}' "$(view answers.jsonl | tail -n 1)"
h edit answers.jsonl 4 '{"role":"user","content":"JSON のまま"}' >/dev/null
check 'a message as JSON is not changed' '{"role":"user","content":"JSON のまま"}' "$(view answers.jsonl | tail -n 1)"
out=$(h edit talk.jsonl 40 text 2>&1); check 'edit of a missing message: exit 5' 5 $?
{ echo '{"role":"system","content":"あなたは助手です"}'; echo '{"role":"developer","content":"简短"}'
  echo '{"role":"user","content":"ls"}'
  echo '{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}'
  echo '{"role":"tool","tool_call_id":"c1","content":"파일"}'; } | h append roles.jsonl >/dev/null
out=$(h edit roles.jsonl 5 text 2>&1); check 'TEXT for a tool result: exit 2' 2 $?
has 'it says what to give' 'as JSON' "$out"
h edit roles.jsonl 2 '長く' >/dev/null
check 'any role is kept' '{"role":"developer","content":"長く"}' "$(view roles.jsonl | tail -n 1)"
h edit roles.jsonl 1 '翻訳者' >/dev/null
check 'also for the system message' '{"role":"system","content":"翻訳者"}' "$(view roles.jsonl | tail -n 1)"
has 'delete' 'Deleted' "$(h delete talk.jsonl 2)"
check 'deleted' 1 "$(visible talk.jsonl)"
check 'every message is still in the file' '' "$(head -n 12 talk.jsonl | diff rows -)"
while h undo talk.jsonl >/dev/null 2>&1; do :; done
check 'everything undone: the original rows' '' "$(view talk.jsonl | diff rows -)"

# ---- then is then --------------------------------------------------------------------------------
h append then.jsonl <rows >/dev/null && h condense then.jsonl >/dev/null
for i in 13 14; do echo "{\"role\":\"user\",\"content\":\"$i 그 뒤 🍵\",\"ts\":${i}000}"; done | h append then.jsonl >/dev/null
at() { "$maki" op "$1" <<<"{\"conversation\":\"then.jsonl\",\"seq\":$2${3:+,$3}}"; }
check 'a message before the condense: as it was then' '' "$(h effective then.jsonl --seq 11 --json | diff <(head -n 11 rows) -)"
check 'the message of the condense: with its summary' 5 "$(h effective then.jsonl --seq 12 --json | wc -l)"
check 'an event asked for by name counts all the same' 1 "$(h effective then.jsonl --seq 11 --ev 1 --json | grep -c isSummary)"
check 'a message alone is a revision in diff' '"messagesA":11,"messagesB":6' "$(h diff then.jsonl 11 13 --json | grep -o '"messagesA.*"messagesB":[0-9]*')"
check 'in an export' 11 "$(h export then.jsonl --format openai --seq 11 | grep -o '"role"' | wc -l)"
check 'of every message too' 0 "$(h export then.jsonl --seq 11 | grep -c 'isSummary\|condenseParent')"
check 'of the rows' '' "$(h export then.jsonl --format lines --seq 11 | diff <(head -n 11 rows) -)"
check 'of the UI messages' '[] 1' "$(h export then.jsonl --format roo-ui --seq 11) $(h export then.jsonl --format roo-ui --seq 12 | grep -c condense_context)"
check 'in a request' 11 "$(at request.build 11 '"protocol":"openai","model":"m"' | grep -o '"role"' | wc -l)"
check 'in the operations' "$(at history.effective 11)" "$(at history.effective 11 '"ev":0')"
h fork then.jsonl forked.jsonl 11 >/dev/null
check 'in a fork' 11 "$(visible forked.jsonl)"
h undo then.jsonl 1 >/dev/null; echo '{"role":"user","content":"元に戻す"}' | h append then.jsonl >/dev/null
h undo then.jsonl 2 >/dev/null; echo '{"role":"user","content":"もう一度"}' | h append then.jsonl >/dev/null
check 'before an undo, after it, after its undo' '6 14 8' \
    "$(for s in 13 14 15; do h effective then.jsonl --seq $s --json | wc -l; done | xargs)"
rm -f then.* forked.*

# ---- a short conversation ----------------------------------------------------------------------------
while read -r role text; do echo "{\"role\":\"$role\",\"content\":\"$text\"}"; done <<'END' >short
user プロジェクト初期化して
assistant npm init実行しました
user Reactをインストール
assistant インストール完了
user App.tsxを作成
assistant 作成しました
user ボタンコンポーネント追加
assistant Button.tsxを作成
user スタイル調整
assistant CSSを更新
user ビルド実行
assistant 成功しました
END
h append short.jsonl <short >/dev/null
has 'a condense keeps its facts' ' 2 of 2 facts kept' "$(h condense short.jsonl)"
has 'it names the files' 'App.tsx, Button.tsx' "$(view short.jsonl)"
check 'no heading is empty' 0 "$(view short.jsonl | grep -c '\\n- *\\n\|\\n- *"\|## [^\\]*\\n\\n')"

# ---- a condense imported from Roo ----------------------------------------------------------------------
mkdir -p roo
echo '[{"role":"user","content":"一","ts":1000,"condenseParent":"C"},{"role":"assistant","content":"둘","ts":2000,"condenseParent":"C"},{"role":"assistant","content":"まとめ","ts":2999,"isSummary":true,"condenseId":"C"},{"role":"user","content":"三","ts":3000},{"role":"assistant","content":"四","ts":5000},{"role":"user","content":"다섯","ts":7000}]' >roo/api_conversation_history.json
echo '[{"ts":1000,"say":"text"},{"ts":6000,"say":"condense_context","contextCondense":{"condenseId":"C"}}]' >roo/ui_messages.json
h import roo/api_conversation_history.json roo/talk.jsonl >/dev/null
check 'it takes effect at the time of its UI message' '一둘|一둘三|まとめ三四|まとめ三四다섯' \
    "$(for s in 2 3 4 5; do h effective roo/talk.jsonl --seq $s | awk '{ printf "%s", $NF }'; echo; done | paste -sd'|')"

# ---- forks, revisions, conflicts -------------------------------------------------------------------
has 'fork' 'Forked' "$(h fork talk.jsonl other.jsonl 4)"
echo '{"role":"user","content":"分かれ道 🍥"}' | h append other.jsonl >/dev/null
check 'a fork shares the messages of its parent' 5 "$(visible other.jsonl)"
check 'without copying it' 1 "$(wc -l <other.jsonl)"
has 'a fork continues on its own' '分かれ道' "$(view other.jsonl)"
check 'the parent is not changed' 0 "$(view talk.jsonl | grep -c 分かれ道)"
has 'diff' '[[5,12]]' "$(h diff talk.jsonl 4:0 12:0)"
mkdir -p sub same task/messages
out=$(h fork talk.jsonl sub/other.jsonl 4 2>&1); check 'a fork in another directory would not find its parent: exit 2' 2 $?
has 'it says where a fork can be' 'sub/other.jsonl is not next to talk.jsonl, where a fork looks for its parent' "$out"
out=$(h fork "$PWD/talk.jsonl" task/messages.jsonl 4 2>&1); check 'nor would one of a task: exit 2' 2 $?
check 'nothing was written' '' "$(find sub task -type f)"
out=$(h fork talk.jsonl missing/other.jsonl 4 2>&1); check 'nor in a directory that is missing: exit 2' 2 $?
h fork sub/../talk.jsonl "$PWD/absolute.jsonl" 4 >/dev/null
check 'the same directory under two names' 4 "$(visible absolute.jsonl)"
mkdir -p tasks/one tasks/two && h append tasks/one/messages.jsonl <rows >/dev/null
h fork tasks/one/messages.jsonl tasks/two/messages.jsonl 4 >/dev/null
check 'a fork of a task is another task' 4 "$(visible tasks/two/messages.jsonl)"
before=$(cat absolute.jsonl absolute.events.jsonl)
out=$(h fork talk.jsonl absolute.jsonl 4 2>&1); check 'a name that is taken: exit 6' 6 $?
check 'it stays as it was' "$before" "$(cat absolute.jsonl absolute.events.jsonl)"
head=$(h status talk.jsonl --json | sed 's/.*"head":"\([0-9a-f]*\)".*/\1/')
has 'the expected head' 'Pinned' "$(h pin talk.jsonl 1 --expect "$head")"
echo '{"role":"user","content":"x"}' | h append talk.jsonl >/dev/null
out=$(h pin talk.jsonl 2 --expect "$head" 2>&1); check 'another head: exit 6' 6 $?
has 'another head: the error' 'read it again' "$out"

printf '{"role":"user","content":"時間なし"}\n{"role":"assistant","content":"네"}\n' | h append timeless.jsonl >/dev/null
out=$(h rewind timeless.jsonl --time 5000 2>&1); check '--time when no message has a time: exit 3' 3 $?
has 'it says what to do' 'rewind to a message (SEQ) or an event instead' "$out"
check 'and nothing was changed' 0 "$(h status timeless.jsonl --json | sed 's/.*"events":\([0-9]*\).*/\1/')"
{ echo '{"role":"user","content":"一","ts":1000}'; echo '{"role":"assistant","content":"二"}'
  echo '{"role":"user","content":"三","ts":3000}'; echo '{"role":"assistant","content":"四"}'; } | h append some.jsonl >/dev/null
h rewind some.jsonl --time 2000 >/dev/null
check 'a message without a time has the time of the one before it' '一二' \
    "$(view some.jsonl | sed 's/.*"content":"\([^"]*\)".*/\1/' | tr -d '\n')"

# the race: what the assistant was still answering when the user acted stays (section 10 of the reference)
{ echo '{"role":"user","content":"一","ts":1000}'; echo '{"role":"assistant","content":"늦은 답 🐢","ts":3000}'
  echo '{"role":"user","content":"三","ts":4000}'; echo '{"role":"assistant","content":"四","ts":5000}'; } >race
for time in '2000 2' '3000 1' '3500 2' '500 0' '4000 2' '4500 3' '9000 4'; do
    set -- $time; rm -f race.*; h append race.jsonl <race >/dev/null; h rewind race.jsonl --time "$1" >/dev/null
    check "rewound to $1: messages left" "$2" "$(visible race.jsonl)"
done
rm -f race.*; h append race.jsonl <rows >/dev/null; h condense race.jsonl >/dev/null
h rewind race.jsonl --time 12500 >/dev/null
check 'a summary that was made after the time goes' '' "$(view race.jsonl | diff rows -)"

# what a rewind ends is in the log
h undo race.jsonl >/dev/null; echo '{"role":"user","content":"그 다음"}' | h append race.jsonl >/dev/null
h truncate race.jsonl >/dev/null
printf 'log: {level: info}\n' >log.yaml
log() { "$maki" --config log.yaml history "$@" 2>&1 >/dev/null | cut -d' ' -f2-; }
check 'a rewind is in the log, with the summary and the marker that it ends' \
    'info rewind_removed summary=1 session=race|info rewind_removed marker=4 session=race|info rewind_cutoff from=13 to=6 session=race' \
    "$(log rewind race.jsonl 6 | paste -sd'|')"
check 'an edit too' 'info rewind_cutoff from=13 to=4 session=race' "$(log edit race.jsonl 5 'もう一度')"
check 'a deletion too' 'info rewind_cutoff from=14 to=1 session=race' "$(log delete race.jsonl 2)"
check 'a pin is none' '' "$(log pin race.jsonl 1)"
rm -f race.*

# ---- damage ---------------------------------------------------------------------------------------
has 'verify' 'ok, 14 messages' "$("$maki" verify talk.jsonl)"
printf '{"role":"user","content":"torn 日' >>talk.jsonl
out=$("$maki" verify talk.jsonl 2>&1); check 'a torn end: verify exits 9' 9 $?
check 'a torn end is not shown' 14 "$(h status talk.jsonl --json | sed 's/.*"messages":\([0-9]*\).*/\1/')"
h append talk.jsonl </dev/null >/dev/null
has 'a torn end was cut by the writer, and kept' '"what":"torn"' "$(tail -n 1 talk.events.jsonl)"
has 'verify after that' 'ok' "$("$maki" verify talk.jsonl)"
rm talk.idx
check 'a missing index is rebuilt' 14 "$(h status talk.jsonl --json | sed 's/.*"messages":\([0-9]*\).*/\1/')"
cp talk.jsonl copy; sed -i '3s/吾輩/我輩/' talk.jsonl
out=$("$maki" verify talk.jsonl 2>&1); check 'one changed character: verify exits 9' 9 $?
has 'one changed character: where' 'message 3' "$out"
out=$("$maki" fsck --repair talk.jsonl 2>&1); check 'fsck repairs: exit 1' 1 $?
check 'the changed row is not shown' 0 "$(view talk.jsonl | grep -c 我輩)"
{ echo '{"role":"user","content":"ファイルは?"}'
  echo '{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}'
  echo '{"role":"tool","tool_call_id":"c1","content":"src 中文 🍜"}'; echo '{"role":"user","content":"ありがとう"}'; } | h append call.jsonl >/dev/null
sed -i '3s/中文/中又/' call.jsonl
"$maki" fsck --repair call.jsonl >/dev/null
check 'a damaged result is left out' 0 "$(view call.jsonl | grep -c '🍜')"
for protocol in openai responses anthropic ollama gemini; do
    out=$(echo "{\"conversation\":\"call.jsonl\",\"protocol\":\"$protocol\",\"model\":\"m\"}" | "$maki" op request.build)
    has "its call is answered all the same: $protocol" '[No result: the call was interrupted]' "$out"
    check "once: $protocol" 1 "$(grep -o 'No result' <<<"$out" | wc -l)"
    has "and before what was said next: $protocol" 'yes' "$(sed 's/.*No result.*ありがとう.*/yes/' <<<"$out")"
done
mv talk.events.jsonl kept
out=$(h status talk.jsonl 2>&1); check 'a missing events file: exit 9' 9 $?
has 'a missing events file: the error' 'events are gone' "$out"
mv kept talk.events.jsonl
h status talk.jsonl >/dev/null; check 'and restored: exit 0' 0 $?
out=$(h status nothing.jsonl 2>&1); check 'a missing conversation: exit 5' 5 $?
out=$(h status rows 2>&1); check 'not a messages file: exit 2' 2 $?
has 'not a messages file: the error says what is one' '.jsonl' "$out"
out=$(echo 'not json' | h append new.jsonl 2>&1); check 'append of a bad line: exit 2' 2 $?
has 'append of a bad line: which' 'line 1' "$out"

# a row taken out of the middle: the others stay as they are
cp copy cut.jsonl && h status cut.jsonl >/dev/null && sed -i 5d cut.jsonl && cp cut.jsonl cut.before
"$maki" fsck --repair cut.jsonl >/dev/null; check 'a removed row: repaired' 1 $?
check 'a removed row: the others are not changed' '' "$(cmp cut.before cut.jsonl)"

# parallel calls in rows of their own are never parted from their results
for t in 1 2 3 4 5 6; do
    echo '{"role":"user","content":"調べて"}'
    for c in a b c; do echo "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t$t$c\",\"name\":\"read\",\"input\":{}}]}"; done
    for c in a b c; do echo "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t$t$c\",\"content\":\"$long\"}]}"; done
done >parallel
for step in 'truncate' 'truncate --fraction 0.3' 'condense --keep 2' 'condense --keep 6' 'rewind 9' 'rewind 10' 'rewind 12'; do
    rm -f par.*; h append par.jsonl <parallel >/dev/null
    set -- $step; sub=$1; shift
    h $sub par.jsonl "$@" >/dev/null 2>&1
    calls=$(view par.jsonl | grep -o '"id":"t..' | grep -o '..$' | sort)
    results=$(view par.jsonl | grep -o '"tool_use_id":"t..' | grep -o '..$' | sort)
    check "pairs stay together through: $step" "$calls" "$results"
done

# ---- import and export ---------------------------------------------------------------------------
h export copy.jsonl >/dev/null 2>&1; check 'export of a missing conversation: exit 5' 5 $?
mv copy copy.jsonl
h export copy.jsonl --format openai >messages.json; check 'export' 0 $?
has 'import of the export' 'Imported 14 messages' "$(h import messages.json again.jsonl)"
out=$(h import messages.json again.jsonl 2>&1); check 'import into an existing conversation: exit 6' 6 $?
echo 'hello' >text; out=$(h import text t.jsonl 2>&1); check 'import of an unknown format: exit 13' 13 $?
check 'a failed import leaves nothing' 0 "$(ls | grep -c '^t\.')"
check 'import of JSON lines' 'Imported 12 messages (lines), 1 event.' "$(h import rows lines.jsonl)"

# ---- the command -----------------------------------------------------------------------------------
h log talk.jsonl >/dev/full 2>err; check 'a full disk: exit 14' 14 $?
has 'a full disk: the error' 'No space left' "$(cat err)"
out=$(h append talk.events.jsonl </dev/null 2>&1); check 'an events file in place of a messages file: exit 2' 2 $?
has 'help of a subcommand' 'maki history rewind' "$(h rewind --help)"
out=$(h frobnicate x 2>&1); check 'an unknown subcommand: exit 2' 2 $?
out=$(h rewind talk.jsonl many 2>&1); check 'not a number: exit 2' 2 $?
has 'a mistyped option: a suggestion' 'unknown option --keeep: did you mean --keep' "$(h condense talk.jsonl --keeep 3 2>&1)"
has 'an option of another command' 'unknown option --fraction' "$(h condense talk.jsonl --fraction 1 2>&1)"
has 'too many arguments' 'too many arguments: 茶' "$(h pin talk.jsonl 3 茶 2>&1)"
out=$(h condense 2>&1); check 'a missing path: exit 2' 2 $?
has 'a missing path: the error' 'missing: PATH' "$out"
"$maki" doctor >/dev/null; check 'doctor' 0 $?
tap_end
