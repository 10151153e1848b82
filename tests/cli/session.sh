#!/usr/bin/env bash
# session.sh -- maki session as people and scripts meet it.
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
has 'without sessions it says where they come from' 'maki serve' "$(s list)"
check 'and as JSON' '{"sessions":[],"all":0}' "$(s list --json)"

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
has 'what it is about: the first words of a person' '会議の議事録をまとめて' "$list"
has 'how long ago' '2 h' "$list"
has 'the model' 'm-1' "$list"
has 'the newest comes first' '안녕' "$(sed -n 2p <<<"$list")"
check 'of one agent only' 1 "$(s list --agent default --json | grep -o '"id"' | wc -l)"
has 'there are more' '1 more' "$(s list --limit 1)"
has 'its key, as JSON' '"sessionKey":"agent:proxy:仕事"' "$(s list --json)"

# ---- one ------------------------------------------------------------------------------------------
has 'by its id' '3 messages in view of 3' "$(s show $one)"
has 'by the beginning of it' '会議の議事録' "$(s show aaaa1)"
check 'the last ones' 1 "$(s show aaaa1 --limit 1 --json | wc -l)"
check 'as JSON: the rows' '{"role":"assistant","content":"はい。","meta":{"model":"m-1"}}' "$(s show aaaa1 --limit 1 --json)"

# ---- mistakes -------------------------------------------------------------------------------------
has 'two that begin so' 'several ids begin with aaaa' "$(s show aaaa)"
s show aaaa >/dev/null; check 'is a misuse' 2 $?
has 'none' 'there is no conversation nope' "$(s show nope)"
s show nope >/dev/null; check 'is not found' 5 $?
has 'no id' 'missing: ID' "$(s show)"
has 'no subcommand' 'list or show' "$(s)"
has 'an unknown one' 'there is no subcommand frobnicate' "$(s frobnicate)"
has 'not a number' 'not a number: many' "$(s list --limit many)"
has 'help has an example' 'maki session show 7f3a' "$("$maki" session --help)"
tap_end
