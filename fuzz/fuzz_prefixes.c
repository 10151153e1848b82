/* fuzz_prefixes.c -- a table of prefixes that is used, closed, damaged and opened again as the input says: it can always
 * be used, what it finds was put there, and as long as nothing was damaged it finds all. */
#include "fuzz_talk.h"

#include <fcntl.h>
#include <stddef.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "proxy/prefixes.h"

enum { KEYS = 16 };

typedef struct run {
    maki_prefixes table;
    maki_env env;
    bool damaged;
    unsigned at[KEYS];  /* what was put last; 0: nothing */
    unsigned put[KEYS]; /* numbers up to this one were put */
} run;

static maki_prefix entry_of(unsigned key, unsigned number)
{
    maki_prefix entry = { .seq = number, .tokens = key, .used = 1 };
    memset(entry.prefix, (int)(key % 3), 8); /* the place: many begin at the same one */
    entry.prefix[9] = (unsigned char)key;
    entry.session[0] = 1;
    return entry;
}

static void look(run *r, unsigned key)
{
    maki_prefix found, want = entry_of(key, 0);
    bool there = false;
    MUST(maki_prefixes_find(&r->table, want.prefix, &found, &there, NULL) == MAKI_OK);
    if (!r->damaged) MUST(there == (r->at[key] != 0) && (!there || found.seq == r->at[key]));
    if (there) MUST(found.seq >= 1 && found.seq <= r->put[key] && found.tokens == key);
}

static void open_again(run *r)
{
    maki_prefixes_close(&r->table);
    MUST(maki_prefixes_open(&r->table, &r->env, fuzz_path("table"), NULL) == MAKI_OK);
}

/* A byte anywhere. */
static void damage(run *r, const uint8_t *op)
{
    off_t size = lseek(r->table.fd, 0, SEEK_END);
    off_t at = (off_t)(op[0] | op[1] << 8 | op[2] << 16) % size;
    MUST(pwrite(r->table.fd, &op[3], 1, at) == 1);
    r->damaged = true;
    open_again(r);
}

/* A header that is whole and says another size, and places that are taken by what is not whole. */
static void forge(run *r, const uint8_t *op)
{
    struct {
        char magic[8];
        uint64_t version, capacity;
        unsigned char reserved[32];
        uint64_t check;
    } header = { "makipfx", 1, (uint64_t)1 << op[0] % 64, { 0 }, 0 };
    unsigned char wrong[64];
    memset(wrong, op[1], sizeof wrong);
    header.check = XXH3_64bits(&header, offsetof(__typeof__(header), check));
    MUST(pwrite(r->table.fd, &header, sizeof header, 0) == sizeof header);
    for (unsigned i = 0; i < op[2]; i++)
        MUST(pwrite(r->table.fd, wrong, sizeof wrong, (i + 1) * 64) == sizeof wrong);
    r->damaged = true;
    open_again(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run r = { .env = maki_env_system(), .table = { .fd = -1 } };
    open_again(&r);
    for (size_t i = 0; i + 5 <= size; i += 5) {
        const uint8_t *op = data + i;
        unsigned key = op[1] % KEYS;
        maki_prefix entry = entry_of(key, r.put[key] + 1);
        switch (op[0] % 6) {
        case 0:
            MUST(maki_prefixes_insert(&r.table, entry, NULL) == MAKI_OK);
            r.at[key] = ++r.put[key];
            break;
        case 1:
            MUST(maki_prefixes_delete(&r.table, &entry, NULL) == MAKI_OK);
            r.at[key] = 0;
            break;
        case 2: look(&r, key); break;
        case 3: open_again(&r); break;
        case 4: damage(&r, op + 1); break;
        default: forge(&r, op + 1);
        }
    }
    for (unsigned key = 0; key < KEYS; key++)
        look(&r, key);
    maki_prefixes_close(&r.table);
    unlink(fuzz_path("table"));
    fuzz_remove_talk();
    return 0;
}
