/* cmd_verify.c -- maki verify and maki fsck: is a conversation what was written? */
#include <inttypes.h>
#include <stdio.h>

#include "cli.h"

static const char verify_usage[] =
    "maki verify PATH ...    prove that nothing in these conversations was changed\n"
    "\n"
    "Every row, event and record is read and its hash made again; one changed byte is found.\n"
    "Exit code 9 when anything was.  See maki fsck for what can be done then.\n"
    "\n"
    "Example:\n"
    "  maki verify talk.jsonl\n";

static const char fsck_usage[] =
    "maki fsck PATH ...             what is wrong with these conversations\n"
    "maki fsck --repair PATH ...    and make it right: nothing is deleted, what cannot stay is kept\n"
    "\n"
    "A torn end is cut off, a damaged row is left out of views, the index is made again; each repair is\n"
    "an event that says what was done and keeps what was taken.\n"
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

static int check_one(maki *m, const char *command, char *path, bool repair)
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
    if (proof.earlier) printf(" (%" PRIu64 " tell of earlier damage)", proof.earlier);
    printf("\n");
    if (st != MAKI_OK && !repair) {
        fprintf(stderr, "maki %s: see maki fsck --repair %s\n", command, path);
    }
    return maki_status_exit(st);
}

static int run(int argc, char **argv, bool may_repair)
{
    maki *m = NULL;
    maki_err err = { 0 };
    bool repair = false;
    cli_watch watch;
    int worst = 0, paths = 0;
    if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail(argv[0], &err);
    cli_watch_counting(m, &watch);
    for (int i = 1; i < argc; i++)
        repair |= may_repair && cli_is(argv[i], "--repair");
    for (int i = 1; i < argc; i++) {
        if (may_repair && cli_is(argv[i], "--repair")) continue;
        int code = argv[i][0] == '-' ? cli_misuse(argv[0], "there is no option ", argv[i])
                                     : check_one(m, argv[0], argv[i], repair);
        paths++;
        if (code > worst) worst = code;
    }
    maki_close(m);
    return paths ? worst : cli_misuse(argv[0], "missing: ", "PATH");
}

static int run_verify(int argc, char **argv)
{
    return run(argc, argv, false);
}

static int run_fsck(int argc, char **argv)
{
    return run(argc, argv, true);
}

const cli_command cli_verify = { .name = "verify",
                                 .help = "prove that a conversation was not changed",
                                 .run = run_verify,
                                 .usage = verify_usage };
const cli_command cli_fsck = { .name = "fsck",
                               .help = "find damage in a conversation, and repair it",
                               .run = run_fsck,
                               .usage = fsck_usage };
