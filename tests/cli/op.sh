#!/usr/bin/env bash
# op.sh -- the command maki op: help, errors, exit codes, hostile input.
#
#     op.sh MAKI      prints TAP
set -u
maki=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"

# ---- help -------------------------------------------------------------------------------------
has 'no arguments: the help' 'maki COMMAND' "$($maki)"
has 'help names the commands' 'any operation, JSON in, JSON out' "$($maki help)"
has 'help of a command' 'maki op --lines' "$($maki op --help)"
has 'help COMMAND is the same' 'maki op --lines' "$($maki help op)"
has 'version' 'maki 0.' "$($maki --version)"
out=$($maki nonsense 2>&1); check 'an unknown command: exit 2' 2 $?
has 'an unknown command names the known ones' 'history, op' "$out"
has 'help of an operation has an example' 'maki op history.rewind <<' "$($maki op history.rewind --help)"
out=$($maki op history.rewnd --help 2>&1); check 'help of a mistyped operation: exit 5' 5 $?
has 'a mistyped operation: a suggestion' 'did you mean history.rewind' "$out"
check 'no colour in a pipe' 0 "$($maki op --list | grep -c $'\033')"
check 'the list has every operation' "$($maki op --list | wc -l)" "$($maki op --list --json | wc -l)"
has 'the tour ends with all messages in view' 'all it hid is back' "$($maki tour)"
$maki tour >/dev/null; check 'the tour works' 0 $?

# ---- running ----------------------------------------------------------------------------------
check 'JSON as an argument' '{"tokens":2}' "$($maki op tokens.estimate '{"text":"吾輩は猫である"}')"
check 'JSON from standard input' '{"tokens":3}' "$(echo '{"text":"abcdefghi"}' | $maki op tokens.estimate)"
check 'white space around it' '{"tokens":1}' "$(printf ' \n{"text":"🚀"}\n\n' | $maki op tokens.estimate)"
check 'unknown fields of a message survive' \
    '{"messages":[{"role":"user","content":"é","x":{"y":[1.50,null]},"ts":1e2}]}' \
    "$($maki op history.effective '{"messages":[{"role":"user","content":"é","x":{"y":[1.50,null]},"ts":1e2}]}')"

# ---- errors: code, words, exit -----------------------------------------------------------------
# error NAME EXIT CODE WORDS OP JSON
error() {
    printf '%s' "$6" >"$dir/in"
    out=$($maki op "$5" <"$dir/in" 2>"$dir/err")
    check "$1: exit $2" "$2" $?
    has "$1: code $3" "{\"error\":{\"code\":\"$3\"" "$out"
    has "$1: words" "$4" "$out"
    has "$1: told on stderr too" "maki op $5: " "$(cat "$dir/err")"
}
error 'malformed JSON' 2 INVALID 'invalid JSON at byte 12: expected a value' history.effective '{"messages":]'
error 'nothing at all' 2 INVALID 'invalid JSON at byte 0: the text is empty' history.effective ''
error 'half a line' 2 INVALID 'unexpected end of the text' history.effective '{"messages":[{"role":"us'
error 'not an object' 2 INVALID 'must be an object' history.effective '[]'
error 'a missing field' 2 INVALID 'messages is missing' history.effective '{}'
error 'a wrong type' 2 INVALID 'messages must be an array, not a string, at byte 12' history.effective '{"messages":"x"}'
error 'a message that is no object' 2 INVALID 'messages[1]: a message must be an object, at byte 29' history.effective '{"messages":[{"role":"user"},7]}'
error 'a message without a role' 2 INVALID 'messages[0].role: is missing' history.effective '{"messages":[{"content":"x"}]}'
error 'content of a wrong type' 2 INVALID 'messages[0].content: must be a string or an array of blocks' history.effective '{"messages":[{"role":"user","content":5}]}'
error 'a time that is no number' 2 INVALID 'messages[0].ts: must be a number' history.effective '{"messages":[{"role":"user","ts":"now"}]}'
error 'a time that is endless' 2 INVALID 'messages[0].ts: is not a time' history.effective '{"messages":[{"role":"user","ts":1e999}]}'
error 'a field that occurs twice' 2 INVALID 'messages[0].role: occurs twice' history.effective '{"messages":[{"role":"user","role":"assistant"}]}'
error 'an id that is no string' 2 INVALID 'messages[0].condenseParent: must be a string' history.effective '{"messages":[{"role":"user","condenseParent":4}]}'
error 'invalid UTF-8' 2 INVALID 'invalid JSON at byte 9: invalid UTF-8' tokens.estimate $'{"text":"\xc3("}'
error 'half a character' 2 INVALID 'invalid JSON at byte 9' tokens.estimate $'{"text":"\xe7\x8c'
error 'a control character' 2 INVALID 'must be escaped' tokens.estimate $'{"text":"a\x01"}'
error 'an unknown operation' 5 NOTFOUND 'did you mean history.truncate' history.trunkate '{}'
error 'a hostile name' 5 NOTFOUND 'unknown operation' $'a\nb\033[31m' '{}'
error 'too few messages' 3 NOT_ENOUGH_MESSAGES 'too few to condense' history.condense '{"messages":[],"prevContextTokens":1}'
error 'a time that no event has' 3 TIMESTAMP_NOT_FOUND 'no event has the time 5' history.rewind '{"ui":[],"api":[],"by":"ts","value":5}'
error 'a count below 0' 2 INVALID 'keepCount must be an integer' history.keep '{"messages":[],"keepCount":-1}'
error 'a count that is broken' 2 INVALID 'keepCount must be an integer' history.keep '{"messages":[],"keepCount":1.5}'
error 'a window of 0' 2 INVALID 'contextWindow must be more than 0' prune.level '{"totalTokens":1,"contextWindow":0}'
error 'no such mode' 2 INVALID 'mode must be full, minimal or none' prompt.sections '{"mode":"most"}'
error 'a mistyped field' 2 INVALID 'unknown field `fractoin`: did you mean `fraction`? (at byte 15)' history.truncate '{"messages":[],"fractoin":0.5}'
error 'a field of no operation' 2 INVALID 'unknown field `海苔` at byte 12; see maki op tokens.estimate --help' tokens.estimate '{"text":"x","海苔":1}'
error 'a field of the other form' 2 INVALID 'unknown field `useNativeTools`' history.condense '{"conversation":"x","useNativeTools":true}'
error 'both forms at once' 2 INVALID 'give messages or conversation, not both' history.condense '{"messages":[],"conversation":"x"}'
error 'neither form' 2 INVALID 'messages is missing from the input at byte 0, or conversation' history.condense '{"keepCount":1}'
error 'a mistyped field of a step' 2 INVALID 'did you mean `fraction`' history.sequence '{"messages":[],"steps":[{"op":"history.truncate","fracton":1}]}'
error 'a mistyped field of a step that is no operation' 2 INVALID 'did you mean `start`' history.sequence '{"messages":[],"steps":[{"op":"slice","strat":1}]}'
has 'help describes both forms' 'With conversation: appends to the conversation' "$($maki op history.condense --help)"
has 'the JSON list has both forms' '"chosenBy":"conversation","class":"conversation","effect":"append","input":[{"name":"conversation","type":"conversation"' "$($maki op --list --json | grep '"history.condense"')"
out=$($maki op 2>&1); check 'op alone: exit 2' 2 $?
out=$($maki op --frobnicate 2>&1); check 'an unknown option: exit 2' 2 $?
has 'an unknown option: where the help is' 'maki op --help' "$out"

# ---- empty and odd histories --------------------------------------------------------------------
check 'an empty history' '{"messages":[]}' "$($maki op history.effective '{"messages":[]}')"
has 'decreasing and equal times' '"messagesRemoved":2' \
    "$($maki op history.truncate '{"messages":[{"role":"user","ts":9},{"role":"user","ts":9},{"role":"user","ts":3},{"role":"user","ts":3},{"role":"user","ts":0}]}')"
has 'time 0 stays through a rewind' '"api":[{"role":"user","ts":0}]' \
    "$($maki op history.rewind '{"ui":[{"ts":5}],"api":[{"role":"user","ts":0},{"role":"user","ts":5}],"by":"ts","value":5}')"
check 'two summaries with one id' 1 \
    "$($maki op history.effective '{"messages":[{"role":"a","isSummary":true,"condenseId":"c","condenseParent":"c"},{"role":"b","isSummary":true,"condenseId":"c"}]}' | grep -c '"role":"b"')"
check 'an orphan id' '{"messages":[{"role":"a","condenseParent":"nothing"}]}' \
    "$($maki op history.effective '{"messages":[{"role":"a","condenseParent":"nothing"}]}')"

# ---- depth and size -----------------------------------------------------------------------------
head -c 200000 /dev/zero | tr '\0' '[' >"$dir/deep"
out=$($maki op tokens.estimate <"$dir/deep" 2>/dev/null); check '200,000 brackets: exit 4' 4 $?
has '200,000 brackets: where' 'nested deeper than 512 levels at byte 512' "$out"

{ printf '{"messages":[{"role":"user","content":"'; head -c 500000000 /dev/zero | tr '\0' x
  printf '","ts":1},{"role":"assistant","content":"猫","ts":2}]}'; } >"$dir/huge"
peak=$( { /usr/bin/env bash -c 'exec 3>&1; "$1" op history.effective <"$2" >"$3"; echo "exit $?"' _ "$maki" "$dir/huge" "$dir/answer"; } 2>&1)
check 'a message of 500 MB: exit 0' 'exit 0' "$peak"
check 'a message of 500 MB is returned unchanged' "$(($(stat -c %s "$dir/huge") + 1))" "$(stat -c %s "$dir/answer")"
cmp -s <(tail -c 100 "$dir/huge"; echo) <(tail -c 101 "$dir/answer"); check 'a message of 500 MB, its end' 0 $?
{ printf '{"op":"history.effective","input":'; cat "$dir/huge"; printf '}\n'; } | $maki op --lines | tail -c 4 >"$dir/tail"
check 'a row of 500 MB' '"}]}' "$(printf '"'; tail -c 4 "$dir/tail" | tr -d '\n' | sed 's/^.*}\]/}]/')"
rm -f "$dir/huge" "$dir/answer"

# ---- the first page ---------------------------------------------------------------------------------
for sub in 'config check' 'session list' 'history rewind' 'tokens count' 'connect claude' verify fsck demo tour doctor; do
    out=$($maki $sub --help 2>&1); check "maki $sub --help: exit 0" 0 $?
    has "maki $sub --help" "maki ${sub%% *}" "$out"
done
check 'each command is in the help once' '' "$($maki --help | awk '/^  [a-z]/ { print $1 }' | sort | uniq -d)"

# ---- a full disk, a closed pipe --------------------------------------------------------------------
$maki op tokens.estimate '{"text":"x"}' >/dev/full 2>"$dir/err"; check 'a full disk: exit 14' 14 $?
has 'a full disk: the error' 'No space left' "$(cat "$dir/err")"
yes '{"op":"tokens.estimate","input":{"text":"x"}}' | head -n 100000 | $maki op --lines | head -n 1 >"$dir/one"
check 'a closed pipe ends the command without an error' '{"tokens":1}' "$(cat "$dir/one")"
large() { printf '{"text":"'; head -c "$1" /dev/zero | tr '\0' x; printf '"}'; }
check 'no temporary file for a large input: memory is used' '{"tokens":500000}' \
    "$(TMPDIR=/nonexistent $maki op tokens.estimate < <(large 2000000) 2>&1)"
out=$(TMPDIR=/nonexistent $maki op tokens.estimate < <(large 20000000) 2>&1)
check 'no temporary file for a huge input: exit 5' 5 $?
has 'no temporary file for a huge input: the error' 'temporary file' "$out"

tap_end
