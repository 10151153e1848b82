/* faults_test.c -- a turn in which the n-th call for memory, or of a file, fails: it says so, gives everything back,
 * and leaves a session in which the next turn works. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine_kit.h"
#include "fake_env.h"
#include "tap.h"

/* The kit's provider and configuration, with an outside world that fails. */
typedef struct faulty {
    engine_kit *kit;
    fake_env fe;
    size_t nth;
} faulty;

static maki_status one_turn(faulty *f, const char *session)
{
    engine_kit *kit = f->kit;
    maki_turns *turns = NULL, *before = kit->turns;
    maki_turns_options options = kit->options;
    options.env = &f->fe.env;
    maki_status st = maki_turns_open(&options, &turns, &kit->err);
    if (st != MAKI_OK) return st;
    kit->turns = turns;
    st = engine_kit_say(kit, session, kit_providers[f->nth % KIT_PROVIDERS], "海苔を読む");
    kit->turns = before;
    maki_turns_close(turns);
    return st;
}

/* What is left of it: the next turn, in a world that works. */
static void check_after(faulty *f, const char *session)
{
    CHECK_EQ(fake_alloc_live(&f->fe), 0);
    CHECK_EQ(fake_files_live(&f->fe), 0);
    CHECK_STATUS(engine_kit_say(f->kit, session, "openai", "もう一度"), MAKI_OK, &f->kit->err);
}

static bool fails(faulty *f, bool files)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%zu", files ? "files" : "memory", f->nth);
    const char *session = engine_kit_session(f->kit, name);
    fake_env_init(&f->fe);
    fake_random_seed(&f->fe, 42);
    if (files)
        fake_files_fail_at(&f->fe, f->nth, EIO);
    else
        fake_alloc_fail_at(&f->fe, f->nth);
    maki_status st = one_turn(f, session);
    bool injected = files ? fake_files_failed(&f->fe) : fake_alloc_failed(&f->fe);
    if (!injected) CHECK_STATUS(st, MAKI_OK, &f->kit->err);
    if (st != MAKI_OK) CHECK(f->kit->err.status == st && f->kit->err.msg[0]);
    check_after(f, session);
    return injected;
}

/* A prompt of files, so that these are read too. */
static void use_workspace(engine_kit *kit)
{
    char more[400];
    directory_write(directory_file(&kit->files, "AGENTS.md"), MAKI_LIT("規則\xff一つ"));
    snprintf(more, sizeof more,
             "summary:\n  provider: offline\nagents:\n  default:\n    workspace: %s\n",
             kit->files.path);
    engine_kit_configure(kit, more);
}

int main(int argc, char **argv)
{
    static engine_kit kit;
    static faulty f;
    if (!engine_kit_open(&kit, argc, argv, NULL)) return tap_end();
    f.kit = &kit;
    use_workspace(&kit);
    tap_row("memory runs out anywhere in a turn");
    for (f.nth = 1; fails(&f, false);)
        f.nth++;
    printf("# %zu calls for memory\n", f.nth);
    tap_row("a file fails anywhere in a turn");
    for (f.nth = 1; fails(&f, true);)
        f.nth++;
    printf("# %zu calls of files\n", f.nth);
    engine_kit_close(&kit);
    return tap_end();
}
