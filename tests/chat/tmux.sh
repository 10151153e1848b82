#!/usr/bin/env bash
# tmux.sh -- maki chat in a real terminal: tmux types, and looks at the screen.
#
#     tmux.sh MAKI FAKE      FAKE is maki-fake-provider; prints TAP
#
# Every wait ends when the screen shows what is waited for, or after two minutes; nothing is timed.
set -u
maki=$(realpath "$1")
fake=$(realpath "$2")
dir=$(mktemp -d)
fake_pid=
. "$(dirname "$0")/../cli/tap.sh"
unset MAKI_CONFIG TMUX
export HOME=$dir XDG_CONFIG_HOME=$dir/none MAKI_HOME=$dir/state LC_ALL=C.UTF-8 TMUX_TMPDIR=$dir
server=first # a server that is ending may still end the next session with it
t() { tmux -L "$server" -f /dev/null "$@"; }
trap '[ -z "$fake_pid" ] || kill "$fake_pid" 2>/dev/null; t kill-server 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1

screen() { t capture-pane -p -J; }
type_in() { t send-keys -l -- "$1"; }
enter() { type_in "$1"; t send-keys Enter; }

# until_true COMMAND...: wait until it succeeds
until_true() {
    local end=$((SECONDS + 120))
    until "$@"; do
        [ $SECONDS -lt $end ] && t has-session || return 1
        sleep 0.05
    done
}
# until_shown PATTERN [COUNT]: wait until the screen has that many lines with it
until_shown() { until_true is_shown "$1" "${2:-1}"; }
is_shown() { [ "$(screen | grep -c -- "$1")" -ge "$2" ]; }
# becomes NAME WANT COMMAND...: what the command prints is that, sooner or later
becomes() {
    local name=$1 want=$2
    shift 2
    until_true prints "$want" "$@"
    check "$name" "$want" "$("$@")"
}
prints() { [ "$("${@:2}")" = "$1" ]; }
# shows NAME PATTERN [COUNT]: that, as a test
shows() {
    if until_shown "$2" "${3:-1}"; then
        check "$1" yes yes
    else
        check "$1" "a screen with: $2" "$(screen)"
    fi
}
# answered PATTERN: the rows of the screen from the one with it on
answered() { t capture-pane -p | sed -n "/$1/,\$p"; }
whole_words() { answered '^word01' | grep -o 'word[0-9][0-9]\( \|$\)' | wc -l; }
fresh() { t send-keys C-l; t clear-history; }
# resize WIDTH: and wait until the terminal has it
resize() {
    t resize-window -x "$1" -y 24
    until_true prints "24 $1" terminal_size
}
terminal_size() { stty size <"$(t display -p '#{pane_tty}')"; }
# begin WIDTH: the chat in a terminal of that width
begin() {
    t new-session -d -x "$1" -y 24 "'$maki' chat; echo left \$?; exec cat"
}

# ---- nobody to ask ----------------------------------------------------------------------------------
begin 80
shows 'no provider: the three lines' '^    provider: anthropic$'
shows 'no provider: the prompt comes all the same' '^a new session'
fresh
enter 'hello'
shows 'no provider: reported again with a message' 'no provider is configured'
shows 'and the chat continues' '^> *$'
t send-keys C-d
shows 'Ctrl-D ends the chat' '^left 0'
t kill-server
server=second

# ---- typing -----------------------------------------------------------------------------------------
coproc FAKE { exec "$fake" 2>/dev/null; }
fake_pid=$FAKE_PID
read -r said <&"${FAKE[0]}"
url=${said##* }
printf 'llm:\n  provider: fake\n  fake: {model: fake-1, base_url: "%s"}\n  nobody: {model: m, base_url: "http://127.0.0.1:1"}\n' "$url" >maki.yaml
begin 80
shows 'who answers' '^fake-1 answers'
shows 'the bar of a new session' '^a new session · fake-1'
type_in 'helo'
t send-keys Left
type_in 'l'
shows 'a letter put in between' '^> hello$'
t send-keys Enter
shows 'the answer' '^You said: hello$'
shows 'the bar: tokens, messages and the model' ' / 200,000 tokens (0 %) · 2 messages · fake-1'
t send-keys Up
shows 'the line before comes back' '^> hello$' 2
t send-keys C-u
fresh

# ---- Japanese, Chinese, Korean, emoji ---------------------------------------------------------------
type_in '日本x語'
t send-keys Left BSpace
shows 'Japanese is edited a character at a time' '^> 日本語 *$'
t send-keys C-e
enter 'で 한국어 中文 🍣'
shows 'and sent as it was typed' '日本語で 한국어 中文 🍣' 2
shows 'the prompt is back' '4 messages'
fresh

# ---- long lines -------------------------------------------------------------------------------------
line_and_bar() { t capture-pane -p | grep -A1 'word40' | grep -c 'messages'; }
long=$(printf 'word%02d ' $(seq 40))
type_in "$long"
shows 'a long line: its end is there' 'word40'
shows 'with the bar under it' '4 messages · fake-1'
becomes 'the bar stands on the line below' 1 line_and_bar
t send-keys Enter
shows 'it is sent' '^You said: word01'
until_shown '6 messages'
fresh
enter "fake:say:$(printf 'word%02d%%20' $(seq 40))"
shows 'a long answer wraps' '^word01'
until_shown '8 messages'
becomes 'between words: none is cut' 40 whole_words
fresh
enter 'fake:say:%23%20題%0A%0A-%20**太字**%20and%20`code`%0A%0A```c%0Aint%20x;%0A```'
shows 'Markdown: a list' '^• 太字 and code'
shows 'Markdown: code, with its language' '^── c'
shows 'the prompt is back' '10 messages'
fresh

# ---- pasting ----------------------------------------------------------------------------------------
t set-buffer -- $'fake:say:pasted\n\tline 二\nline 3'
t paste-buffer -p
shows 'a paste of several lines is one line to edit' '^> fake:say:pasted␤␉line 二␤line 3$'
t send-keys Enter
shows 'and one message' '^pasted'
shows 'the prompt is back' '12 messages'
enter '/log 2'
shows 'with its lines' 'fake:say:pasted  line 二 line 3'
fresh

# ---- resize -----------------------------------------------------------------------------------------
type_in 'a line that is typed while the terminal changes, twice, to be sure of it'
shows 'typed' 'sure of it'
resize 40
shows 'narrower: the bar is there, cut' '(0 %) · 12*$'
resize 100
shows 'wider: all of the bar' '12 messages · fake-1$'
shows 'wider: the line is whole' '^> a line that is typed while the terminal changes, twice, to be sure of it$'
t send-keys C-u
shows 'dropped' '^> *$'
fresh
enter '/log 3'
shows 'something above the line' '    12   assistant'
type_in 'a line that is typed while the terminal changes, twice, to be sure of it'
shows 'typed below something else' 'sure of it$'
lines_and_bars() { screen >shot && echo "$(grep -c '^> a line' shot) $(grep -c '░░' shot)"; }
for round in 1 2 3; do # the terminal is wide again before the chat has drawn anything
    for width in 45 98 60 72 45; do t resize-window -x "$width" -y 24; done
    resize $((100 - round % 2)) # another width than before: tmux has set all of them when the terminal has this one
    type_in '!'
    shows "changed fast ($round): the line continues" 'sure of it!$'
    shows "changed fast ($round): all of the bar" '12 messages · fake-1$'
    becomes "changed fast ($round): one line and one bar, nothing stale" '1 1' lines_and_bars
    t send-keys BSpace
    shows "changed fast ($round): typed back" 'sure of it *$'
done
t send-keys Enter
shows 'and is sent as it was' '^You said: a line that is typed while the terminal changes, twice, to be sure of it$'
until_shown '14 messages'
resize 50
fresh
enter "fake:say:$(printf 'word%02d%%20' $(seq 40))"
shows 'an answer in the new width' '^word01'
until_shown '(0 %) · 16'
becomes 'wraps at it' 40 whole_words
resize 80
fresh

# ---- Ctrl-C -----------------------------------------------------------------------------------------
enter 'fake:hold:2 one two three four five six seven eight nine ten eleven twelve'
shows 'an answer begins' '^You said'
t send-keys C-c
shows 'Ctrl-C stops it' '^(stopped; the part received is kept)'
shows 'not the program' '^> *$'
fresh
type_in 'not this'
shows 'something typed' '^> not this'
t send-keys C-c
shows 'Ctrl-C drops it' '^> *$'
t send-keys C-c
shows 'at an empty prompt: how to end' 'Ctrl-D or /quit ends'
enter 'but this'
shows 'and on' '^You said: but this$'
fresh

enter 'fake:think,hold:2,first:1 only thoughts'
shows 'thoughts come before the answer' '^The user'
t send-keys C-c
shows 'stopped while it thinks: nothing is kept of it' '^(stopped before the answer began)'
fresh
enter '/retry'
shows '/retry asks again, without a new message' '^You said: fake:think,hold:2,first:1 only thoughts$'
fresh

# ---- what goes wrong --------------------------------------------------------------------------------
enter 'fake:key wrong'
shows 'a wrong key: what to check' 'check llm.fake.api_key'
enter '/model nobody m'
shows 'another provider' 'm of nobody answers'
enter 'is anybody there?'
shows 'no network: who cannot be reached' 'cannot reach nobody at http://127.0.0.1:1'
t send-keys C-c
shows 'Ctrl-C ends the waiting too' '^(stopped before the answer began)'
enter '/model fake fake-1'
shows 'back to the first' 'fake-1 of fake answers'
fresh
enter 'and now?'
shows 'the chat continues' '^You said: and now?$'
enter '/status'
shows '/status' 'of the window'
enter '/quit'
shows '/quit ends, and prints how to continue' '^maki chat --session [0-9a-f-]* continues it'
shows 'with 0' '^left 0'
t kill-server
server=third

# ---- ended from outside ------------------------------------------------------------------------------
mkfifo go
t new-session -d -x 80 -y 24 "read x <go; sh -c 'echo \$\$ >pid; exec \"\$0\" chat' '$maki'; echo left \$?; exec cat"
t pipe-pane "cat >'$dir/written'"
echo >go
shows 'to be ended: the prompt' '^> *$'
kill -TERM "$(cat pid)"
shows 'SIGTERM ends it' '^left 143'
paste_marks() { grep -ao '\[?2004[hl]' written | tail -1; }
becomes 'the terminal is asked for paste marks no more' '[?2004l' paste_marks
t kill-server
server=fourth

# ---- a session of that name ---------------------------------------------------------------------------
t new-session -d -x 80 -y 24 "'$maki' chat --session 料理; echo left \$?; exec cat"
shows 'a session with a name' '^a new session'
enter 'こんにちは'
shows 'it answers' '「こんにちは」ですね'
shows 'and asks for more' '^> *$'
t send-keys C-d
shows 'how to continue: by that name' '^maki chat --session 料理 continues it'
tap_end
