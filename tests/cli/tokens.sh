#!/usr/bin/env bash
# tokens.sh -- the command maki tokens.
#
#     tokens.sh MAKI      prints TAP
set -u
maki=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
docs=$(cd "$(dirname "$0")/../../docs" && pwd)/tokens.md
cd "$dir" || exit 1
case $maki in /*) ;; *) maki=$OLDPWD/$maki ;; esac

t() { "$maki" tokens "$@"; }
# The first "tokens" of an answer in JSON.
tokens() { sed 's/^{"tokens":\([0-9]*\).*/\1/'; }
count() { t count "$@" --json | tokens; }

printf 'Hello world' >hello.txt
printf '吾輩は猫である' >猫.txt
printf '人人生而自由' >'中 文.txt'
printf '다시 해 주세요' >한국어.txt
printf '👨‍👩‍👧‍👦🍥' >🍥.txt
: >empty.txt
printf 'ab\377\376cd \343\201' >broken.txt

# ---- counting ------------------------------------------------------------------------------------
check 'a file' 2 "$(count hello.txt)"
check 'standard input' 2 "$(t count --json <hello.txt | tokens)"
check 'standard input by its name' 2 "$(cat hello.txt | t count - --json | tokens)"
check 'a pipe by its path' 2 "$(count <(cat hello.txt))"
check 'a text as an argument' 2 "$(t count --text 'Hello world' --json | tokens)"
check 'Japanese, o200k_base' 7 "$(count 猫.txt)"
check 'Japanese, cl100k_base' 12 "$(count 猫.txt --encoding cl100k_base)"
check 'the vocabulary of a model' 12 "$(count --model gpt-4 猫.txt)"
check 'an option with =' 12 "$(count --encoding=cl100k_base 猫.txt)"
check 'an empty file' 0 "$(count empty.txt)"
check 'several files' 9 "$(count hello.txt empty.txt 猫.txt)"
check 'a file twice counts twice' 4 "$(count hello.txt hello.txt)"
check 'each file is listed' '2 0' "$(t count --json hello.txt empty.txt | grep -o '"tokens":[0-9]*,"bytes":[0-9]*}' | grep -o 's":[0-9]*,' | grep -o '[0-9]*' | xargs)"
has 'names in any script' '中 文.txt' "$(t count '中 文.txt' 한국어.txt 🍥.txt)"
has 'exact is said' 'o200k_base, exact' "$(t count hello.txt)"
out=$(t count --model claude-sonnet-4-5 hello.txt)
has 'an estimate says about' 'about tokens' "$out"
has 'an estimate says how far off' 'within 28 %' "$out"
has 'an estimate in JSON' '"exact":false,"factor":1.29,"error":0.28' "$(t count --model claude-sonnet-4-5 hello.txt --json)"
check 'one file has no total' 0 "$(t count hello.txt | grep -c total)"
has 'several have one' 'total' "$(t count hello.txt 猫.txt)"
head -c 1234567 /dev/zero | tr '\0' ' ' >spaces.txt
has 'thousands are grouped' '1,234,567' "$(t count spaces.txt)"
check 'special tokens are text' 7 "$(t count --text '<|endoftext|>' --json | tokens)"
check 'special tokens are one' 1 "$(t count --special --text '<|endoftext|>' --json | tokens)"
check 'what is not UTF-8 is counted' "$(t encode broken.txt | wc -w)" "$(count broken.txt)"

# ---- large files: read in parts, by several threads, with the same sum -----------------------------
for i in $(seq 1 40000); do echo "行 $i: the quick brown fox_$i jumps; 다시 return (x + $i);"; done >lines.txt
for i in 1 2 3 4 5; do cat lines.txt; done >large.txt
check 'a large file is large' yes "$([ "$(stat -c %s large.txt)" -gt 9000000 ] && echo yes)"
check 'in parts as in one' "$(cat large.txt | t count --json | tokens)" "$(count large.txt)"
check 'with special tokens too' "$(count large.txt)" "$(count --special large.txt)"
head -c 9000000 /dev/zero | tr '\0' a >a.txt
check 'a large file without a place to cut' 1125000 "$(count a.txt)"
check 'cl100k_base of a large file' "$(cat large.txt | t count --json --encoding cl100k_base | tokens)" "$(count large.txt --encoding cl100k_base)"

# ---- directories --------------------------------------------------------------------------------------
mkdir -p tree/b tree/.git tree/a tree/.hidden
cp hello.txt tree/b/1.txt; cp hello.txt tree/a/2.txt; cp 猫.txt tree/猫.txt; cp hello.txt tree/.hidden/h
cp hello.txt tree/.git/config; printf 'ELF\0\1\2' >tree/b/binary; ln -s .. tree/up; ln -s ../hello.txt tree/link
mkfifo tree/pipe
out=$(t count tree --json)
check 'a directory: all its files' 13 "$(echo "$out" | tokens)"
check 'in the order of names' 'tree/.hidden/h tree/a/2.txt tree/b/1.txt tree/猫.txt' "$(echo "$out" | grep -o '"file":"[^"]*"' | cut -d'"' -f4 | xargs)"
has 'binary files are skipped' '"binaryFiles":1' "$out"
has 'and told' '1 binary files skipped' "$(t count tree)"
has 'unless asked for' 'tree/b/binary' "$(t count --all tree)"
check 'a binary file that was named is counted' "$(t encode tree/b/binary | wc -w)" "$(count tree/b/binary)"
ln -s tree linked
check 'a link that was named is followed' 13 "$(count linked)"
mkdir nothing
check 'an empty directory' 0 "$(count nothing)"

# ---- what cannot be read -----------------------------------------------------------------------------
out=$(t count hello.txt missing.txt 猫.txt --json 2>err); check 'a missing file: exit 5' 5 $?
check 'the others are counted' 9 "$(echo "$out" | tokens)"
has 'it is reported' 'missing.txt: No such file' "$(cat err)"
has 'in JSON too' '"file":"missing.txt","error":{"code":"NOTFOUND"' "$out"
out=$(t count "" 2>&1); check 'an empty name: exit 5' 5 $?
out=$(t count hello.txt/x 2>&1); check 'a file is no directory: exit 5' 5 $?
ln -s nowhere dangling; out=$(t count dangling 2>&1); check 'a link to nothing: exit 5' 5 $?
t encode missing.txt >out 2>err; check 'encode of a missing file: exit 5' 5 $?
check 'and nothing else' '' "$(cat out)"
evil=$(printf 'a\033[2Jb\nc\377\302\233d')
cp hello.txt "$evil"
out=$(t count "$evil"); check 'a hostile name' 0 $?
check 'control characters do not reach the terminal' 0 "$(echo "$out" | tail -n 2 | head -n 1 | LC_ALL=C grep -c "$(printf '[\001-\011\013-\037\177\377]')")"
has 'they are shown as ?' 'a?[2Jb?c??d' "$out"
has 'in JSON they are escaped' 'a\u001b[2Jb\nc�' "$(t count "$evil" --json)"
cp hello.txt -- --json
check 'a name like an option, after --' 2 "$(t count --json -- --json | tokens)"

# ---- messages ------------------------------------------------------------------------------------------
echo '[{"role":"user","content":"Hello world"},{"role":"assistant","content":[{"type":"text","text":"吾輩は猫である"}]}]' >array.json
printf '{"role":"user","content":"Hello world"}\n\n{"role":"assistant","content":"\\u543e輩は猫である"}\n' >lines.jsonl
printf '{"model":"x",\n"messages":[{"role":"user","content":"Hello world"}],"system":"Hello","tools":[]}' >request.json
check 'an array of messages' 20 "$(count --messages array.json)"
check 'a message a line' 20 "$(count --messages lines.jsonl)"
check 'a request with a system prompt' 14 "$(count --messages request.json)"
check 'one message' 9 "$(echo '{"role":"user","content":"Hello world"}' | t count --messages --json | tokens)"
check 'from standard input' 20 "$(t count --messages --json <array.json | tokens)"
has 'how many there are' '"messages":2' "$(t count --messages --json lines.jsonl)"
has 'a column for them' 'messages' "$(t count --messages array.json lines.jsonl)"
printf '{"sessionId":"x"}\n{"role":"user","content":"Hello world"}\n' >session.jsonl
check 'the header of a session is no message' 9 "$(count --messages session.jsonl)"
out=$(echo '{"content":"x"}' | t count --messages 2>&1); check 'an object without a role: exit 2' 2 $?
check 'nothing is no messages' 0 "$(count --messages empty.txt)"
out=$(t count --messages hello.txt 2>&1); check 'not JSON: exit 2' 2 $?
printf '{"role":"user","content":"x"}\n{"role":\n' >torn.jsonl
out=$(t count --messages torn.jsonl 2>&1); check 'a torn line: exit 2' 2 $?
has 'a torn line: which' 'line 2' "$out"
out=$(echo '[1]' | t count --messages 2>&1); check 'a message that is none: exit 2' 2 $?
out=$(t count --messages --special array.json 2>&1); check 'not with --special: exit 2' 2 $?

# ---- encode and decode -----------------------------------------------------------------------------------
check 'encode' '13225 2375' "$(t encode hello.txt)"
check 'a line for each file' 2 "$(t encode hello.txt 猫.txt | wc -l)"
check 'encode as JSON' '{"tokens":[13225,2375],"count":2}' "$(t encode hello.txt --json)"
check 'encode nothing' '' "$(t encode empty.txt)"
check 'decode of arguments' 'Hello world' "$(t decode 13225 2375)"
check 'decode of standard input' 'Hello world' "$(printf '13225\n2375\n' | t decode)"
check 'decode as JSON' '{"valid":true,"text":"Hello world"}' "$(t decode 13225 2375 --json)"
check 'half a character as JSON' '{"valid":false,"badByte":0,"bytes":"vg=="}' "$(t decode --json 122)"
out=$(t decode --json 99999999 2>/dev/null); check 'an id that is none as JSON: exit 2' 2 $?
check 'decode of JSON' 'Hello world' "$(t decode '[13225, 2375]')"
for file in 猫.txt '中 文.txt' 한국어.txt 🍥.txt broken.txt empty.txt; do
    for encoding in o200k_base cl100k_base claude; do
        t encode "$file" --encoding $encoding | t decode --encoding $encoding >back
        check "$file comes back in $encoding" '' "$(cmp "$file" back 2>&1)"
    done
done
head -c 300000 /dev/urandom >random
t encode random | t decode | cmp - random; check 'random bytes come back' 0 $?
check 'as many ids as counted' "$(count random)" "$(t encode random | wc -w)"
out=$(t decode 13225 99999999 2>err); check 'an id that is none: exit 2' 2 $?
has 'which it was' 'id 99999999 (number 2)' "$(cat err)"
out=$(t decode x 2>&1); check 'not a number: exit 2' 2 $?
out=$(t decode 99999999999999999999999999 2>&1); check 'a number without end: exit 2' 2 $?
check 'encode with special tokens' 199999 "$(t encode --special --text '<|endoftext|>')"

# ---- the command -----------------------------------------------------------------------------------------
has 'help' 'maki tokens count' "$(t --help)"
has 'help of a subcommand' 'Example' "$(t count --help)"
has 'help by name' 'maki tokens decode' "$("$maki" help tokens)"
out=$(t 2>&1); check 'no subcommand: exit 2' 2 $?
out=$(t frobnicate 2>&1); check 'an unknown subcommand: exit 2' 2 $?
out=$(t count --frobnicate 2>&1); check 'an unknown option: exit 2' 2 $?
out=$(t count --encoding 2>&1); check 'a missing value: exit 2' 2 $?
out=$(t count hello.txt --encoding p50k 2>&1); check 'an unknown encoding: exit 2' 2 $?
has 'which there are' 'o200k_base cl100k_base claude' "$out"
out=$(t count hello.txt --encoding claude --model gpt-4 2>&1); check 'encoding and model: exit 2' 2 $?
out=$(t count hello.txt --text x 2>&1); check 'a text and a file: exit 2' 2 $?
t count hello.txt >/dev/full 2>err; check 'a full disk: exit 14' 14 $?
has 'a full disk: said' 'No space left' "$(cat err)"
t encode large.txt >/dev/full 2>err; check 'encode to a full disk: exit 14' 14 $?
t count hello.txt >&- 2>err; check 'closed standard output: exit 7' 7 $?
t encode large.txt 2>/dev/null | head -c 10 >/dev/null; check 'a pipe that closes ends it quietly' 141 "${PIPESTATUS[0]}"
check 'no progress where no terminal is' '' "$(t count large.txt 2>&1 >/dev/null)"
check 'no colour where no terminal is' 0 "$(t count hello.txt | grep -c "$(printf '\033')")"
if [ "$(id -u)" != 0 ]; then
    chmod 000 hello.txt; out=$(t count hello.txt 2>&1); check 'not allowed: exit 10' 10 $?
fi

# ---- the examples of docs/tokens.md ------------------------------------------------------------------------
maki() { "$maki" "$@"; }
example() { [ -z "$command" ] || check "docs: $command" "$want" "$(eval "$command")"; command= want=; }
command= want=
while IFS= read -r line; do
    case $line in
    '    $ '*) example; command=${line#'    $ '} ;;
    '    '*) want=$want${want:+$'\n'}${line#'    '} ;;
    *) example ;;
    esac
done <"$docs"
example
tap_end
