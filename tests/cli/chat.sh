#!/usr/bin/env bash
# chat.sh -- maki chat in a pipe: one shot, lines, JSON, sessions that go on, commands, and what goes wrong.
#
#     chat.sh MAKI FAKE      FAKE is maki-fake-provider; prints TAP
set -u
maki=$(realpath "$1")
fake=$(realpath "$2")
dir=$(mktemp -d)
fake_pid=
trap '[ -z "$fake_pid" ] || kill "$fake_pid" 2>/dev/null; rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
unset MAKI_CONFIG ANTHROPIC_API_KEY OPENAI_API_KEY
export HOME=$dir XDG_CONFIG_HOME=$dir/none MAKI_HOME=$dir/state LC_ALL=C.UTF-8
cd "$dir" || exit 1

chat() { "$maki" chat "$@" 2>&1 </dev/null; }
lines() { "$maki" chat "$@" 2>&1; }

# ---- without a provider -----------------------------------------------------------------------------
out=$(chat -p hello); check 'no provider: exit 5' 5 $?
has 'no provider: what is missing' 'no provider is chosen' "$out"
has 'no provider: the three lines' '  llm:
    provider: anthropic
    anthropic: {model: ' "$out"
has 'no provider: one to try' 'maki-fake-provider --port' "$out"
has 'the help has an example' 'Example:' "$(chat --help)"
has 'maki help chat is the same' 'maki chat -p' "$("$maki" help chat)"
out=$(chat --frob); check 'an unknown option: exit 2' 2 $?
has 'an unknown option: named' '--frob' "$out"
out=$(chat hello); check 'words without -p: exit 2' 2 $?
has 'words without -p: how to say them' 'unexpected argument hello; maki chat -p TEXT sends a text' "$out"

# ---- with one ---------------------------------------------------------------------------------------
coproc FAKE { exec "$fake" 2>/dev/null; }
fake_pid=$FAKE_PID
read -r said <&"${FAKE[0]}"
url=${said##* }
printf 'llm:\n  provider: fake\n  fake: {model: fake-1, base_url: "%s"}\n  nobody: {model: m, base_url: "http://127.0.0.1:1"}\n  locked: {model: m, base_url: "%s", api_key: wrong}\n' \
    "$url" "$url" >maki.yaml

check 'one shot: the answer, and nothing else' 'You said: hello' "$(chat -p hello)"
has 'in Japanese' 'こんにちは' "$(chat -p 'こんにちは')"
check 'plain text stays as it is in a pipe' '**bold** `x`' "$(chat -p 'fake:say:**bold**%20`x`')"
has 'all of standard input' 'one' "$(printf 'one\ntwo\n' | lines -p -)"
check 'nothing to say: exit 2' 2 "$(chat -p - >/dev/null; echo $?)"

# ---- a model that the caller names ------------------------------------------------------------------
printf 'llm:\n  provider: fake\n  fake: {base_url: "%s"}\n' "$url" >bare.yaml
check '--model is enough' 'You said: hello' "$(chat -p hello --config bare.yaml --model 海苔-1)"
has '--model: it is the one that is asked' '"model":"海苔-1"' "$(chat -p hello --config bare.yaml --model 海苔-1 --json | tail -1)"
out=$(chat -p hello --config bare.yaml); check 'no model: exit 5' 5 $?
has 'no model: how to name one' 'no model is chosen; name one, or set llm.fake.model in maki.yaml' "$out"
check 'no model: a provider is chosen, so nothing about that' 0 "$(grep -c 'No provider is configured yet' <<<"$out")"
out=$(lines --config bare.yaml <<<$'/model\n/model 海苔-1\n/model\nhello')
has '/model without one: told' 'no model is chosen' "$out"
has '/model NAME is enough' '海苔-1 of fake answers' "$out"
has '/model NAME: and it answers' 'You said: hello' "$out"

# ---- JSON lines -------------------------------------------------------------------------------------
out=$(chat -p 'fake:think hi' --json --session 仕事)
has 'JSON: pieces of the answer' '{"type":"text","text":' "$out"
has 'JSON: reasoning' '{"type":"reasoning","text":' "$out"
has 'JSON: the end' '{"type":"end","status":"OK","session":"' "$(tail -1 <<<"$out")"
has 'JSON: what it used' '"outputTokens":' "$(tail -1 <<<"$out")"
has 'JSON: whole tokens' '"contextTokens":N,' "$(chat -p again --json --session 仕事数 | tail -1 | sed 's/"contextTokens":[0-9]*,/"contextTokens":N,/')"
has 'JSON: whole tokens, once the model taught its own' '"contextTokens":N,' "$(chat -p again --json --session 仕事数 | tail -1 | sed 's/"contextTokens":[0-9]*,/"contextTokens":N,/')"
has 'JSON: why it stopped' '"stop":"end"' "$(tail -1 <<<"$out")"
out=$(chat -p 'fake:key x' --json --provider locked); check 'JSON: a wrong key: exit 10' 10 $?
has 'JSON: an error is in the end' '"status":"DENIED","error":{"code":"DENIED","message":"locked does not take the key' "$(tail -1 <<<"$out")"

# ---- a session goes on ------------------------------------------------------------------------------
check 'by its name' 'You said: again' "$(chat -p again --session 仕事)"
out=$(lines --session 仕事 <<<$'/status\n/log')
has '/status: how full' 'of the window' "$out"
has '/status: both turns are there' '4 messages in view' "$out"
has '/log: their numbers' '     3   user      again' "$out"
has 'it is a session like any other' '"sessionKey":"agent:default:仕事"' "$("$maki" session list --json)"
id=$("$maki" session list --json | grep -o '"id":"[^"]*","[^}]*agent:default:仕事' | head -1 | cut -d'"' -f4)
has 'by the beginning of its id' '4 messages in view' "$(lines --session "${id:0:8}" <<<'/status')"

mkdir folder
check 'a folder of that name is left alone' 'You said: x' "$(chat -p x --session folder)"
check 'it is empty still' '' "$(ls folder)"
out=$(chat -p x --session ./folder); check 'a path that is no conversation: exit 5' 5 $?
has 'and what the path of a new one is' '.jsonl' "$out"
check 'a path of its own' 'You said: x' "$(chat -p x --session folder/own.jsonl)"
has 'which is read like any other' 'You said: x' "$("$maki" history effective folder/own.jsonl)"

# ---- commands ---------------------------------------------------------------------------------------
out=$(lines --session 仕事 <<<$'/pin 1\n/log\n/rewind 2\n/log\n/undo\n/diff 2\n/fork 2\nfrom here\n/status\n/quit\nnever said')
has '/pin' 'Pinned: ' "$out"
has '/rewind' 'Rewound, 2 messages out of view' "$out"
has '/log marks what is pinned' '     1 * user' "$out"
has 'and what is hidden' '     3 · user' "$out"
has '/undo says which step' 'Undone: the rewind of event ' "$out"
out2=$(lines --session 制御 <<<$'a\u009b31mb\n/log')
has '/log: no control characters' ' user      a  31mb' "$out2"
figures() { grep -o "$1" <<<"$2" | grep -o '[0-9][0-9]*' | tr '\n' ' '; }
steps=$(lines --session 歩 <<<$'海苔を巻く寿司の話を長くする\nもう一度\nagain\n/status\n/rewind 2\n/status\n/undo\n/status')
read -r one two three <<<"$(figures '[0-9]* of [0-9]* tokens' "$steps" | awk '{print $1, $3, $5}')"
check 'a step tells the tokens that /status tells' "$one $two $two $three " "$(figures '[0-9]* -> [0-9]* tokens' "$steps")"
check 'and undoing it brings them back' "$one" "$three"
long=$(printf '海苔を巻く寿司 %.0s' {1..200})
for i in 1 2 3; do chat -p "$long $i" --session 単位 >/dev/null; done
sent=$(chat -p "$long fake:key" --json --session 単位 | tail -1 | grep -o '"contextTokens":[0-9]*' | grep -o '[0-9]*')
told=$(lines --session 単位 <<<'/status' | grep -o '[0-9]* of [0-9]* tokens' | cut -d' ' -f1)
check 'the end of a turn tells what /status tells' "$told" "$sent"
has 'JSON: a repetition and its number' '{"type":"retry","try":1,"pauseMs":1,' "$(chat -p 'もう一度 fake:429,first:1,afterms:1' --json)"
has '/diff' 'B: 4 messages' "$out"
has '/diff: what only one of them shows' 'only there: 3-4' "$out"
has '/fork' 'Forked at message 2' "$out"
has 'and on in the fork' 'You said: from here' "$out"
has 'the fork has its own messages' '4 messages in view' "$out"
case $out in *'never said'*) check '/quit leaves' yes no ;; *) check '/quit leaves' yes yes ;; esac
has 'the first one is as it was' '4 messages in view' "$(lines --session 仕事 <<<'/status')"
has 'in JSON an operation answers itself' '{"type":"answer","command":"status","answer":{' "$(lines --session 仕事 --json <<<'/status')"
has '/model' 'fake-2 of fake answers.' "$(lines --session 仕事 <<<'/model fake fake-2')"
has '/help' '/condense' "$(lines <<<'/help')"
has 'nothing to condense yet' 'maki chat: ' "$(lines --session 仕事 <<<'/condense 40')"
has 'before anything was said' 'nothing was said yet' "$(lines <<<'/status')"

# ---- lines ------------------------------------------------------------------------------------------
check 'each line is a message' $'You said: a\nYou said: b' "$(lines <<<$'a\n\nb')"
check 'the last one needs no newline' 'You said: a' "$(printf a | lines)"
has 'a backslash goes on in the next' $'one\ntwo' "$(lines <<<$'one\\\ntwo')"
has 'a space before a slash sends it' 'You said:  /status' "$(lines <<<' /status')"
out=$(lines <<<$'/nope\nstill here'); check 'a mistake: exit 5 at the end' 5 $?
has 'a mistake is told' 'there is no command /nope' "$out"
has 'and the chat goes on' 'You said: still here' "$out"

# ---- a workspace ------------------------------------------------------------------------------------
mkdir 仕事 && printf '名前は巻。必ず先に聞く。' >仕事/AGENTS.md && mkfifo 仕事/SOUL.md
{ cat maki.yaml; printf 'agents: {default: {workspace: 仕事}}\n'; } >agent.yaml
out=$(lines --config agent.yaml --session 巻 <<<$'hello\nagain\n/status')
has 'its prompt is in /status' '  system ' "$out"
check 'a file that is not read is told once' 1 "$(grep -c 'SOUL.md was not read: it is a pipe' <<<"$out")"
has 'and the answer came' 'You said: again' "$out"
out=$(chat --config agent.yaml --json -p hello); has 'in JSON it is a note' '{"type":"note","text":"(SOUL.md was not read' "$out"
printf 'agents: {default: {workspace: nowhere}}\n' | cat maki.yaml - >nowhere.yaml
out=$(chat --config nowhere.yaml -p hello); check 'no such workspace: exit 5' 5 $?
has 'no such workspace: named' 'maki chat: the workspace nowhere: No such file' "$out"

# ---- what goes wrong --------------------------------------------------------------------------------
out=$(chat -p 'fake:key x'); check 'a wrong key: exit 10' 10 $?
has 'a wrong key: what to check' 'check llm.fake.api_key' "$out"
out=$(chat -p 'fake:nomodel x'); check 'no such model: exit 5' 5 $?
has 'no such model: named' 'fake-1' "$out"
out=$(chat -p x --provider nobody); check 'no network: exit 11' 11 $?
has 'no network: who, and where' 'cannot reach nobody at http://127.0.0.1:1' "$out"
out=$(chat -p '誰かいる？' --provider nobody --session 再び); out=$(lines --session 再び <<<$'/retry\n/log\n/retry')
has '/retry: the answer to what was asked' '誰かいる？」ですね' "$out"
has '/retry: nothing was said twice' '     2   assistant' "$out"
has '/retry: not when there is one' 'the last message has its answer' "$out"
has '/retry: not before anything was said' 'nothing was said yet' "$(lines <<<'/retry')"
out=$(chat -p x --provider nobody)
has 'no network: told once, then tried again' 'trying again in' "$out"
out=$(lines --provider nobody --session offline <<<$'x\n/log'); has 'what was said is kept' '     1   user      x' "$out"
out=$("$maki" chat -p 'fake:huge:3000000' 2>&1 >/dev/full); check 'a full disk: not 0' no "$([ $? = 0 ] && echo yes || echo no)"
check 'a reader that leaves: no words' '' "$({ "$maki" chat -p 'fake:huge:3000000' | head -c 1 >/dev/null; } 2>&1)"
out=$(printf 'a\xff' | lines -p -); check 'no UTF-8: exit 2' 2 $?
printf 'llm: {provdier: x}\n' >bad.yaml
out=$(chat --config bad.yaml -p x); check 'a broken maki.yaml: exit 2' 2 $?
has 'a broken maki.yaml: its line' 'bad.yaml:1:' "$out"
tap_end
