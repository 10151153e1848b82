/* fuzz_talk.h -- a conversation in a directory of this process, for targets that need files. */
#ifndef FUZZ_TALK_H
#define FUZZ_TALK_H

#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "base/str_util.h"
#include "history/conv.h"

static char fuzz_directory[40]; /* empty: not made */

static inline const char *fuzz_path(const char *name)
{
    static char path[100];
    if (!fuzz_directory[0]) {
        bool memory = access("/dev/shm", W_OK) == 0;
        strcpy(fuzz_directory, memory ? "/dev/shm/maki-fuzz-XXXXXX" : "/tmp/maki-fuzz-XXXXXX");
        MUST(mkdtemp(fuzz_directory));
    }
    snprintf(path, sizeof path, "%s/%s", fuzz_directory, name);
    return path;
}

static inline void fuzz_remove_talk(void)
{
    static const char *const names[] = { "talk.jsonl", "talk.events.jsonl", "talk.idx" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(fuzz_path(names[i]));
    MUST(rmdir(fuzz_directory) == 0);
    fuzz_directory[0] = '\0';
}

static inline maki_conv *fuzz_open_talk(bool create)
{
    maki_env env = maki_env_system();
    maki_conv_options options = {
        .create = create, .read_only = !create, .durability = MAKI_DURABILITY_AT_END, .threads = 1
    };
    maki_conv *conv = NULL;
    return maki_conv_open(&env, fuzz_path("talk.jsonl"), &options, &conv, NULL) == MAKI_OK ? conv
                                                                                           : NULL;
}

#endif
