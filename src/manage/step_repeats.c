/* step_repeats.c -- remove duplicates: of contents that are in the view more than once, only the newest copy stays.
 *
 * A file that was read again, an output that came again, an image that was shown again: the older copy is replaced by
 * a line that says where the newer one is.  Images of tools (screenshots) are also replaced when there is any newer
 * one, because they show an outdated state; images of the user only when the same image comes again.
 *
 * Copies are found by hashes in a set-associative table of a fixed size: in a very long view the oldest are evicted,
 * and then an old copy stays.  Two reads are of the same file when the newer one read all of it, or had the same
 * arguments. */
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/json_access.h"
#include "manage/pruning.h"

enum {
    SETS = 1024, /* of WAYS slots each */
    WAYS = 8,
    UNITS_MIN = 200, /* of an output: shorter ones are not replaced */
    MUCH_LESS = 4 /* a newer read of under a quarter of the length does not replace the older one */
};

/* The newest copy of a content; key 0: a free slot. */
typedef struct copy {
    uint64_t key, position, seq, units;
} copy;

typedef struct copies {
    copy slots[SETS][WAYS];
    copy newest_image;
} copies;

static copy *lookup(copies *table, uint64_t key)
{
    copy *set = table->slots[key % SETS];
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].key == key) return &set[i];
    }
    return NULL;
}

/* Insert or update the newest copy; a full set evicts its oldest. */
static void insert(copies *table, uint64_t key, const maki_pruning_part *piece, uint64_t units)
{
    copy *slot = lookup(table, key), *set = table->slots[key % SETS];
    for (size_t i = 0; !slot && i < WAYS; i++) {
        if (set[i].key == 0) slot = &set[i];
    }
    if (!slot) {
        slot = set;
        for (size_t i = 1; i < WAYS; i++) {
            if (set[i].position < slot->position) slot = &set[i];
        }
    }
    *slot = (copy){ key, piece->position, piece->seq, units };
}

/* ---- keys of a part --------------------------------------------------------------------------- */

typedef enum key_kind { KEY_FILE = 1, KEY_INPUT, KEY_TEXT, KEY_IMAGE } key_kind;

static uint64_t key_of(key_kind kind, uint64_t hash, uint64_t units)
{
    uint64_t parts[3] = { (uint64_t)kind, hash, units };
    uint64_t key = maki_row_hash((maki_str){ (const char *)parts, sizeof parts });
    return key ? key : 1;
}

static bool is_read(const maki_pruning_part *piece)
{
    return piece->call && piece->call->kind == MAKI_TOOL_READ && piece->call->path &&
           !piece->failed && piece->part == 0;
}

static uint64_t units_of(const maki_pruning_part *piece)
{
    return piece->image ? 0 : maki_json_utf16_len(maki_json_strip_quotes(piece->value));
}

static maki_status insert_part(maki_pruning *p, const maki_pruning_part *piece, maki_err *err)
{
    copies *table = p->ctx;
    uint64_t units = units_of(piece);
    (void)err;
    if (piece->image) {
        insert(table, key_of(KEY_IMAGE, maki_row_hash(piece->value), 0), piece, 0);
        if (piece->result) table->newest_image = (copy){ 1, piece->position, piece->seq, 0 };
    } else if (piece->result && units >= UNITS_MIN) {
        insert(table, key_of(KEY_TEXT, maki_json_text_hash(piece->value), units), piece, units);
        if (!is_read(piece)) return MAKI_OK;
        insert(table, key_of(KEY_INPUT, piece->call->input, 0), piece, units);
        if (piece->call->only_path)
            insert(table, key_of(KEY_FILE, piece->call->path, 0), piece, units);
    }
    return MAKI_OK;
}

/* ---- older copies ------------------------------------------------------------------------------------------ */

static const copy *find_newer(copies *table, uint64_t key, const maki_pruning_part *piece)
{
    const copy *found = lookup(table, key);
    return found && found->position > piece->position ? found : NULL;
}

/* A later read of the same file with a similar length. */
static const copy *find_newer_read(copies *table, const maki_pruning_part *piece, uint64_t units)
{
    if (!is_read(piece)) return NULL;
    const copy *same = find_newer(table, key_of(KEY_INPUT, piece->call->input, 0), piece);
    const copy *whole = find_newer(table, key_of(KEY_FILE, piece->call->path, 0), piece);
    const copy *best = whole ? whole : same;
    return best && best->units * MUCH_LESS >= units ? best : NULL;
}

static maki_status add_pointer(maki_pruning *p, const maki_pruning_part *piece, const copy *to,
                               uint64_t units, const char *what, maki_str name, maki_err *err)
{
    maki_cut cut = { 0, units, { "", 0 } };
    maki_status st = maki_pruning_text(p, &cut.text, err,
                                       "[%s%.*s: see message %" PRIu64
                                       ". maki history expand %" PRIu64 " brings this copy back.]",
                                       what, (int)name.len, name.ptr, to->seq, piece->seq);
    return st == MAKI_OK ? maki_pruning_add(p, piece, &cut, 1, err) : st;
}

static maki_status replace_by_pointer(maki_pruning *p, const maki_pruning_part *piece,
                                      maki_err *err)
{
    copies *table = p->ctx;
    maki_str none = { "", 0 };
    uint64_t units = units_of(piece);
    const copy *to = NULL;
    if (!piece->old) return MAKI_OK;
    if (piece->image) {
        to = find_newer(table, key_of(KEY_IMAGE, maki_row_hash(piece->value), 0), piece);
        if (to) return add_pointer(p, piece, to, 0, "This image was shown again later", none, err);
        to = &table->newest_image;
        if (!piece->result || to->position <= piece->position) return MAKI_OK;
        return add_pointer(p, piece, to, 0, "An older image; there is a newer one", none, err);
    }
    if (!piece->result || units < UNITS_MIN) return MAKI_OK;
    to = find_newer_read(table, piece, units);
    if (to) {
        maki_str file = { piece->call->file, piece->call->file_len };
        return add_pointer(p, piece, to, units,
                           file.len ? "This file was read again later, "
                                    : "These files were read again later",
                           file, err);
    }
    to = find_newer(table, key_of(KEY_TEXT, maki_json_text_hash(piece->value), units), piece);
    if (!to) return MAKI_OK;
    return add_pointer(p, piece, to, units, "The same output came again later", none, err);
}

maki_status maki_step_prune_repeats(maki_manage_state *work, const maki_step *step,
                                    maki_step_effect *effect, maki_err *err)
{
    const maki_alloc *alloc = maki_log_env(maki_conv_log(work->conv))->alloc;
    copies *table = alloc->resize(alloc, NULL, 0, sizeof *table);
    if (!table) return maki_fail_nomem(err);
    memset(table, 0, sizeof *table);
    maki_status st = maki_pruning_scan(work, step, insert_part, table, err);
    if (st == MAKI_OK) st = maki_pruning_run(work, step, replace_by_pointer, table, effect, err);
    alloc->resize(alloc, table, sizeof *table, 0);
    if (st == MAKI_OK && effect->count == 0)
        return maki_refuse(err, "NOTHING_TO_DO", "there are no duplicates in old messages");
    return st;
}
