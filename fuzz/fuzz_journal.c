/* fuzz_journal.c -- a journal and the logs it speaks of, both as a power cut may leave them: what a log gets back is
 * what was written to it, and what it has is never touched. */
#include "fuzz_talk.h"

#include <fcntl.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "proxy/journal_internal.h"

enum { LOGS = 4, LOG_MAX = 4096 };

typedef struct run {
    maki_journal j;
    size_t ends[2];
    size_t has[LOGS]; /* bytes of each log; 0: there is none */
    bool forged;
} run;

/* What was ever written to a log: its byte at `at`. */
static char byte_of(unsigned which, size_t at)
{
    return (char)(at * 31 + which * 7 + (at >> 8));
}

static const char *path_of(run *r, unsigned which)
{
    static char path[MAKI_PATH_MAX];
    unsigned char session[MAKI_SESSION_BYTES] = { (unsigned char)(which / 2) };
    maki_journal_path(&r->j, session, (maki_log_part)(which % 2), path, sizeof path);
    return path;
}

/* op: which log, where (2 bytes), how long, the generation.  `forged`: its bytes are none of the log's, or it is not
 * numbered as a record would be. */
static void add_record(run *r, const uint8_t *op, bool forged)
{
    unsigned which = op[0] % LOGS, half = op[0] / LOGS % 2;
    struct {
        journal_record head;
        char bytes[256];
    } record = { .head = { .generation = op[4] % 4,
                           .length = op[3],
                           .part = which % 2,
                           .offset = (uint64_t)(op[1] | op[2] << 8) % LOG_MAX,
                           .session = { (unsigned char)(which / 2) } } };
    for (size_t i = 0; i < op[3]; i++)
        record.bytes[i] = (char)(byte_of(which, record.head.offset + i) ^ (forged ? op[5] : 0));
    record.head.check = XXH3_64bits(record.bytes, record.head.length);
    if (forged) memset((char *)&record.head + 8 + op[2] % 24, op[4], 1 + op[5] % 8);
    record.head.head_check = journal_head_check(&record.head);
    size_t size = sizeof record.head + journal_padded(op[3]);
    MUST(pwrite(r->j.halves[half].fd, &record, size, (off_t)r->ends[half]) == (ssize_t)size);
    r->ends[half] += size;
    r->forged |= forged;
}

static void cut_log(run *r, const uint8_t *op)
{
    unsigned which = op[0] % LOGS;
    char bytes[LOG_MAX];
    size_t has = (size_t)(op[1] | op[2] << 8) % LOG_MAX;
    for (size_t i = 0; i < has; i++)
        bytes[i] = byte_of(which, i);
    int fd = open(path_of(r, which), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    MUST(fd >= 0 && write(fd, bytes, has) == (ssize_t)has);
    close(fd);
    r->has[which] = has;
}

static void damage(run *r, const uint8_t *op)
{
    unsigned half = op[0] % 2;
    if (r->ends[half] == 0) return;
    off_t at = (off_t)((size_t)(op[1] | op[2] << 8) % r->ends[half]);
    MUST(pwrite(r->j.halves[half].fd, &op[3], 1, at) == 1);
}

static void check_log(run *r, unsigned which)
{
    static char bytes[1 << 20];
    int fd = open(path_of(r, which), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        MUST(r->has[which] == 0);
        return;
    }
    ssize_t n = read(fd, bytes, sizeof bytes);
    MUST(n >= (ssize_t)r->has[which]);
    for (size_t i = 0; i < (r->forged ? r->has[which] : (size_t)n); i++)
        MUST(bytes[i] == byte_of(which, i));
    close(fd);
    unlink(path_of(r, which));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run r = { .j = { .env = maki_env_system() } };
    for (int i = 0; i < 2; i++)
        MUST((r.j.halves[i].fd = r.j.env.files->temp(r.j.env.files)) >= 0);
    fuzz_path("");
    snprintf(r.j.sessions, sizeof r.j.sessions, "%s", fuzz_directory);
    for (size_t i = 1; i + 7 <= size; i += 7) {
        switch (data[i] % 4) {
        case 0: add_record(&r, data + i + 1, false); break;
        case 1: cut_log(&r, data + i + 1); break;
        case 2: damage(&r, data + i + 1); break;
        default: add_record(&r, data + i + 1, true);
        }
    }
    bool make = size && data[0] & 1;
    for (int again = 0; again < 2; again++)
        MUST(maki_journal_restore(&r.j, make, NULL, NULL) == MAKI_OK);
    for (unsigned which = 0; which < LOGS; which++)
        check_log(&r, which);
    for (int i = 0; i < 2; i++) {
        journal_half *half = &r.j.halves[i];
        close(half->fd);
        if (half->touched)
            r.j.env.alloc->resize(r.j.env.alloc, half->touched,
                                  half->touched_capacity * MAKI_SESSION_BYTES, 0);
    }
    fuzz_remove_talk();
    return 0;
}
