/* cmd_verify.c -- maki verify and maki fsck: check the hashes of conversations, and repair damage.
 *
 * Every path is checked, also after a failure; the exit code is the highest. */
#include <inttypes.h>
#include <stdio.h>

#include "cli.h"

enum { REPAIRED = 1 /* exit code */ };

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
    "recorded as an event, with the bytes that were cut off.  Where it cannot be known which of several messages was\n"
    "altered, they are accepted as they are now.\n"
    "The exit code is 0 when there is nothing to repair, 1 when all damage was repaired, 9 when damage is left.\n"
    "\n"
    "Example:\n"
    "  maki fsck --repair talk.jsonl\n";

typedef struct listing {
    const char *path;
    bool repair;
} listing;

static void print_damage(void *ctx, const maki_damage *d)
{
    const listing *l = ctx;
    printf("%s: %s at byte %" PRIu64, l->path, d->file, d->offset);
    if (d->seq && d->from < d->seq)
        printf(", one of the messages %" PRIu64 " to %" PRIu64, d->from, d->seq);
    else if (d->seq)
        printf(", message %" PRIu64, d->seq);
    if (d->ev) printf(", event %" PRIu64, d->ev);
    printf(": %s", d->what);
    printf(l->repair ? "; %s\n" : "\n", d->repair);
}

static int check_path(maki *m, const char *command, char *path, bool repair)
{
    maki_verification proof = { 0 };
    listing l = { path, repair };
    maki_err err = { 0 };
    cli_style s = cli_style_of(1);
    maki_status st = maki_conversation_verify(m, path, repair, print_damage, &l, &proof, &err);
    if (st != MAKI_OK && proof.found == 0) return cli_fail(command, &err);
    printf("%s: %s%s%s, %" PRIu64 " message%s, %" PRIu64 " event%s", path,
           st == MAKI_OK ? s.green : s.yellow,
           st != MAKI_OK     ? "damaged"
           : proof.found > 0 ? "repaired"
                             : "ok",
           s.off, proof.messages, cli_plural(proof.messages), proof.events,
           cli_plural(proof.events));
    if (proof.earlier)
        printf(" (%" PRIu64 " event%s of earlier damage)", proof.earlier,
               cli_plural(proof.earlier));
    printf("\n");
    if (st != MAKI_OK && !repair) {
        fprintf(stderr, "maki %s: see maki fsck --repair %s\n", command, path);
    }
    return st == MAKI_OK && proof.found ? REPAIRED : maki_status_exit(st);
}

/* Both commands take paths; only fsck has an option. */
static int check_all(const cli_command *command, int argc, char **argv)
{
    maki *m = NULL;
    maki_err err = { 0 };
    bool repair = false;
    cli_progress progress;
    size_t paths;
    int highest = cli_read_options(command, argc, argv, &repair, SIZE_MAX, &paths);
    if (highest) return highest;
    if (paths == 0) return cli_usage_error(command->name, "missing: ", "PATH");
    if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail(command->name, &err);
    cli_progress_watch(m, &progress);
    for (size_t i = 0; i < paths; i++) {
        int code = check_path(m, command->name, argv[i], repair);
        if (code > highest) highest = code;
    }
    maki_close(m);
    return highest;
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
