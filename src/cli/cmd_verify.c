/* cmd_verify.c -- maki verify and maki fsck: check the hashes of conversations, and repair damage.
 *
 * Every path is checked, also after a failure; the exit code is the largest. */
#include <inttypes.h>
#include <stdio.h>

#include "cli.h"

static const char verify_usage[] =
    "maki verify PATH ...    check that nothing in these conversations was changed\n"
    "\n"
    "Every row, event and index record is read and its hash computed again: one changed byte is found.\n"
    "The exit code is 9 when there is damage; maki fsck --repair repairs it.\n"
    "\n"
    "Example:\n"
    "  maki verify talk.jsonl\n";

static const char fsck_usage[] =
    "maki fsck PATH ...             list the damage in these conversations\n"
    "maki fsck --repair PATH ...    repair it; damaged bytes are kept in an event, nothing is deleted\n"
    "\n"
    "A truncated last row is cut off, a damaged row is hidden from views, the index is rebuilt.  Each repair is\n"
    "recorded as an event, with the bytes that were cut off.\n"
    "\n"
    "Example:\n"
    "  maki fsck --repair talk.jsonl\n";

static void print_damage(void *ctx, const maki_damage *d)
{
    const char *path = ctx;
    printf("%s: %s at byte %" PRIu64, path, d->file, d->offset);
    if (d->seq) printf(", message %" PRIu64, d->seq);
    if (d->ev) printf(", event %" PRIu64, d->ev);
    printf(": %s\n", d->what);
}

static int check_path(maki *m, const char *command, char *path, bool repair)
{
    maki_proof proof = { 0 };
    maki_err err = { 0 };
    cli_style s = cli_style_of(1);
    maki_status st = maki_conversation_verify(m, path, repair, print_damage, path, &proof, &err);
    if (st != MAKI_OK && proof.found == 0) return cli_fail(command, &err);
    printf("%s: %s%s%s, %" PRIu64 " messages, %" PRIu64 " events", path,
           st == MAKI_OK ? s.green : s.yellow,
           st != MAKI_OK     ? "damaged"
           : proof.found > 0 ? "repaired"
                             : "ok",
           s.off, proof.messages, proof.events);
    if (proof.earlier) printf(" (%" PRIu64 " events record earlier damage)", proof.earlier);
    printf("\n");
    if (st != MAKI_OK && !repair) {
        fprintf(stderr, "maki %s: see maki fsck --repair %s\n", command, path);
    }
    return maki_status_exit(st);
}

/* Both commands take paths; only fsck has an option. */
static int check_all(const cli_command *command, int argc, char **argv)
{
    maki *m = NULL;
    maki_err err = { 0 };
    bool repair = false;
    cli_progress watch;
    size_t paths;
    int worst = cli_read_options(command, argc, argv, &repair, SIZE_MAX, &paths);
    if (worst) return worst;
    if (paths == 0) return cli_misuse(command->name, "missing: ", "PATH");
    if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail(command->name, &err);
    cli_progress_watch(m, &watch);
    for (size_t i = 0; i < paths; i++) {
        int code = check_path(m, command->name, argv[i], repair);
        if (code > worst) worst = code;
    }
    maki_close(m);
    return worst;
}

static int run_verify(int argc, char **argv)
{
    return check_all(&cli_verify, argc, argv);
}

static int run_fsck(int argc, char **argv)
{
    return check_all(&cli_fsck, argc, argv);
}

static const maki_option fsck_options[] = { { "--repair", 0, NULL } };

const cli_command cli_verify = { .name = "verify",
                                 .help = "check that a conversation was not changed",
                                 .run = run_verify,
                                 .usage = verify_usage };
const cli_command cli_fsck = { .name = "fsck",
                               .help = "find damage in a conversation, and repair it",
                               .run = run_fsck,
                               .usage = fsck_usage,
                               CLI_OPTIONS(fsck_options) };
