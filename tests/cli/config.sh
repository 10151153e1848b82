#!/usr/bin/env bash
# config.sh -- the command maki config; and the errors of every invalid file in tests/cases/config.
#
#     config.sh MAKI ROOT             prints TAP
#     config.sh MAKI ROOT --update    rewrites the expected output next to each file, to be reviewed like code
set -u
maki=$(realpath "$1")
root=$2
cases=$root/tests/cases/config
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/tap.sh"
unset MAKI_CONFIG OPENAI_API_KEY CLEANUP_DAYS MAKI_TOKEN
export HOME=$dir XDG_CONFIG_HOME=$dir/none

if [ "${3-}" = --update ]; then
    cd "$cases" || exit 1
    for file in *.yaml; do $maki config check "$file" >"${file%.yaml}.txt" 2>&1; done
    exit
fi

# ---- broken files: the line, the column, what was meant --------------------------------------------
cd "$cases" || exit 1
for file in *.yaml; do
    out=$($maki config check "$file" 2>&1)
    check "$file: exit 2" 2 $?
    check "$file" "$(cat "${file%.yaml}.txt")" "$out"
done
check 'at least 30 invalid files' yes "$([ "$(ls ./*.yaml | wc -l)" -ge 30 ] && echo yes)"

# ---- check ------------------------------------------------------------------------------------------
cd "$dir" || exit 1
check 'check without a file' 'ok: no maki.yaml, so all settings have their defaults' "$($maki config check)"
printf 'memory:\n  enabled: false\n' >maki.yaml
check 'check finds ./maki.yaml' 'maki.yaml: ok' "$($maki config check 2>/dev/null)"
check 'a setting that nothing acts on yet: a warning' 'maki.yaml:2:12: warning: memory.enabled has no effect yet' "$($maki config check 2>&1 >/dev/null)"
check 'check in JSON' '{"problems":[],"ok":true}' "$(echo 'window: {minimum: 17000}' | $maki config check --json /dev/stdin)"
out=$(printf 'memory: {"有効": 1}' | $maki config check --json /dev/stdin); check 'mistakes in JSON: exit 2' 2 $?
has 'mistakes in JSON: where' '"line":1,"column":10,"message":"unknown setting memory.有効' "$out"
has 'mistakes in JSON: not ok' '"ok":false}' "$out"
printf 'profileThresholds: {m: 3}' >warn.yaml
out=$($maki config check warn.yaml 2>&1); check 'a warning is no error: exit 0' 0 $?
has 'a warning is reported' 'warn.yaml:1:24: warning: profileThresholds.m is 3' "$out"
out=$($maki config check no.yaml 2>&1); check 'no such file: exit 5' 5 $?
has 'no such file is named' 'no.yaml: No such file' "$out"
out=$(CLEANUP_DAYS=x $maki config check 2>&1); check 'a variable can be wrong too' 2 $?
has 'the variable is named' 'CLEANUP_DAYS must be an integer from 0 to 36500, not "x"' "$out"

# ---- show -------------------------------------------------------------------------------------------
tab=$(printf '\t')
check 'show one: from the file' "memory.enabled${tab}false${tab}maki.yaml:2" "$($maki config show memory.enabled)"
check 'show one: the default' "log.level${tab}info${tab}default" "$($maki config show log)"
check 'show one: the environment' "context_storage.cleanup_days${tab}7${tab}\$CLEANUP_DAYS" \
    "$(CLEANUP_DAYS=7 $maki config show context_storage.cleanup_days)"
check 'secrets are masked' "serve.token${tab}********${tab}\$MAKI_TOKEN" "$(MAKI_TOKEN=hush $maki config show serve.token)"
check 'no part of a secret in JSON' 0 "$(MAKI_TOKEN=hush $maki config show --json | grep -c hush)"
has 'show in JSON' '{"path":"memory.enabled","value":false,"source":"file","line":2,"column":12}' "$($maki config show --json)"
has '--config' 'warn.yaml' "$($maki config show --config warn.yaml profileThresholds 2>/dev/null)"
has '$MAKI_CONFIG' 'warn.yaml' "$(MAKI_CONFIG=warn.yaml $maki config show profileThresholds 2>/dev/null)"
$maki config show no.such 2>/dev/null; check 'unknown setting: exit 5' 5 $?
echo 'x: 1' >broken.yaml
out=$($maki config show --config broken.yaml 2>&1); check 'show of a broken file: exit 2' 2 $?
has 'show of a broken file says why' 'broken.yaml:1:1: error: unknown setting x' "$out"

# ---- help, misuse, the reference --------------------------------------------------------------------
has 'help has an example' 'Example:' "$($maki config --help)"
$maki config 2>/dev/null; check 'no verb: exit 2' 2 $?
$maki config shwo 2>/dev/null; check 'no such verb: exit 2' 2 $?
$maki config show a b 2>/dev/null; check 'too many arguments: exit 2' 2 $?
$maki config show --nonsense 2>/dev/null; check 'no such option: exit 2' 2 $?
$maki config show --config 2>/dev/null; check 'an option without its value: exit 2' 2 $?
check 'the reference page is current (maki config reference >docs/configuration.md)' \
    "$(cat "$root/docs/configuration.md")" "$($maki config reference)"
sed -n '/^```yaml/,/^```/p' "$root/docs/configuration.md" | grep -v '^```' >example.yaml
out=$(OPENAI_API_KEY=k $maki config check example.yaml 2>&1); check 'the example of the page is valid' 'example.yaml: ok' "$out"

# ---- every setting of the page, but those of its last section, acts: a test elsewhere is named by its path -----------
names="(tap_row\\(\"|test\\(['\"\`]|check ['\"]|has ['\"]|\\{ \")[^\"'\`]*"
find "$root/tests" -type f \( -name '*.c' -o -name '*.mjs' -o -name '*.sh' \) \
    ! -path '*/unit/config/*' ! -path '*/cases/*' ! -path '*/cli/config.sh' -exec grep -hE "$names" {} + >names.txt
set -f # a star is no pattern here
for path in $(sed -n '/^## Defaults of some names/q; s/^| `\([^`]*\)` |.*/\1/p' "$root/docs/configuration.md"); do
    pattern=$(printf '%s' "$path" | sed 's/[.*]/\\&/g')
    grep -qE "$names$pattern([^A-Za-z0-9_.*#]|\$)" names.txt
    check "$path has a test that it acts, named by it" 0 $?
done
tap_end
