/* step_repeats.c -- what stands in the view more than once stays once, where it stands last.
 *
 * A file that was read again, an output that came again, an image that was shown again: the older copy
 * becomes a line that says where the newer one is.  Images of tools (screenshots) also give way to a newer
 * image: they show a state that is past.  What a person showed gives way to the same image only.
 *
 * Copies are found by hashes in a table of a fixed size; in a very long view the oldest of them are
 * forgotten, and then an old copy stays.  Two readings are the same file when the newer one read all of it,
 * or asked with the same words. */
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "manage/pruning.h"

enum {
    SETS = 1024, /* of WAYS places each */
    WAYS = 8,
    SHORTEST = 200, /* units of an output that is worth a pointer */
    MUCH_LESS = 4 /* a newer reading of a quarter of the length does not stand for the older one */
};

/* Where something stands last. */
typedef struct copy {
    uint64_t key, at, seq, units;
} copy;

typedef struct copies {
    copy places[SETS][WAYS];
    copy newest_image;
} copies;

static copy *find(copies *c, uint64_t key)
{
    copy *set = c->places[key % SETS];
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].key == key) return &set[i];
    }
    return NULL;
}

/* Remember the newest; what was seen least lately makes room. */
static void remember(copies *c, uint64_t key, const maki_pruning_part *piece, uint64_t units)
{
    copy *place = find(c, key), *set = c->places[key % SETS];
    for (size_t i = 0; !place && i < WAYS; i++) {
        if (set[i].key == 0) place = &set[i];
    }
    if (!place) {
        place = set;
        for (size_t i = 1; i < WAYS; i++) {
            if (set[i].at < place->at) place = &set[i];
        }
    }
    *place = (copy){ key, piece->at, piece->seq, units };
}

/* ---- what a piece is known by --------------------------------------------------------------------------- */

typedef enum key_kind { KEY_FILE = 1, KEY_INPUT, KEY_TEXT, KEY_IMAGE } key_kind;

static uint64_t key_of(key_kind kind, uint64_t hash, uint64_t units)
{
    uint64_t parts[3] = { (uint64_t)kind, hash, units };
    uint64_t key = maki_row_hash((maki_str){ (const char *)parts, sizeof parts });
    return key ? key : 1;
}

static bool is_reading(const maki_pruning_part *piece)
{
    return piece->call && piece->call->kind == MAKI_TOOL_READ && piece->call->path &&
           !piece->failed && piece->part == 0;
}

static uint64_t units_of(const maki_pruning_part *piece)
{
    return piece->image ? 0 : maki_json_units(maki_json_inside(piece->value));
}

static maki_status note_copy(maki_pruning *p, const maki_pruning_part *piece, maki_err *err)
{
    copies *c = p->ctx;
    uint64_t units = units_of(piece);
    (void)err;
    if (piece->image) {
        remember(c, key_of(KEY_IMAGE, maki_row_hash(piece->value), 0), piece, 0);
        if (piece->result) c->newest_image = (copy){ 1, piece->at, piece->seq, 0 };
    } else if (piece->result && units >= SHORTEST) {
        remember(c, key_of(KEY_TEXT, maki_json_text_hash(piece->value), units), piece, units);
        if (!is_reading(piece)) return MAKI_OK;
        remember(c, key_of(KEY_INPUT, piece->call->input, 0), piece, units);
        if (piece->call->only_path)
            remember(c, key_of(KEY_FILE, piece->call->path, 0), piece, units);
    }
    return MAKI_OK;
}

/* ---- older copies ------------------------------------------------------------------------------------------ */

static const copy *newer(copies *c, uint64_t key, const maki_pruning_part *piece)
{
    const copy *found = find(c, key);
    return found && found->at > piece->at ? found : NULL;
}

/* A later reading of the same file that holds about as much. */
static const copy *newer_reading(copies *c, const maki_pruning_part *piece, uint64_t units)
{
    if (!is_reading(piece)) return NULL;
    const copy *same = newer(c, key_of(KEY_INPUT, piece->call->input, 0), piece);
    const copy *whole = newer(c, key_of(KEY_FILE, piece->call->path, 0), piece);
    const copy *best = whole ? whole : same;
    return best && best->units * MUCH_LESS >= units ? best : NULL;
}

static maki_status point(maki_pruning *p, const maki_pruning_part *piece, const copy *to,
                         uint64_t units, const char *what, maki_str name, maki_err *err)
{
    maki_cut cut = { 0, units, { "", 0 } };
    maki_status st = maki_pruning_text(p, &cut.text, err,
                                       "[%s%.*s: see message %" PRIu64
                                       ". maki history expand %" PRIu64 " brings this copy back.]",
                                       what, (int)name.len, name.ptr, to->seq, piece->seq);
    return st == MAKI_OK ? maki_pruning_add(p, piece, &cut, 1, err) : st;
}

static maki_status point_to_newer(maki_pruning *p, const maki_pruning_part *piece, maki_err *err)
{
    copies *c = p->ctx;
    maki_str none = { "", 0 };
    uint64_t units = units_of(piece);
    const copy *to = NULL;
    if (!piece->old) return MAKI_OK;
    if (piece->image) {
        to = newer(c, key_of(KEY_IMAGE, maki_row_hash(piece->value), 0), piece);
        if (to) return point(p, piece, to, 0, "This image was shown again later", none, err);
        to = &c->newest_image;
        if (!piece->result || to->at <= piece->at) return MAKI_OK;
        return point(p, piece, to, 0, "An older image; there is a newer one", none, err);
    }
    if (!piece->result || units < SHORTEST) return MAKI_OK;
    to = newer_reading(c, piece, units);
    if (to) {
        maki_str file = { piece->call->file, piece->call->file_len };
        return point(p, piece, to, units,
                     file.len ? "This file was read again later, "
                              : "These files were read again later",
                     file, err);
    }
    to = newer(c, key_of(KEY_TEXT, maki_json_text_hash(piece->value), units), piece);
    if (!to) return MAKI_OK;
    return point(p, piece, to, units, "The same output came again later", none, err);
}

maki_status maki_step_prune_repeats(maki_manage_work *work, const maki_step *step,
                                    maki_step_effect *took, maki_err *err)
{
    const maki_alloc *alloc = maki_log_env(maki_conv_log(work->conv))->alloc;
    copies *c = alloc->resize(alloc, NULL, 0, sizeof *c);
    if (!c) return maki_fail_nomem(err);
    memset(c, 0, sizeof *c);
    maki_status st = maki_pruning_scan(work, step, note_copy, c, err);
    if (st == MAKI_OK) st = maki_pruning_run(work, step, point_to_newer, c, took, err);
    alloc->resize(alloc, c, sizeof *c, 0);
    if (st == MAKI_OK && took->count == 0)
        return maki_refuse(err, "NOTHING_TO_DO", "nothing old stands in the view twice");
    return st;
}
