/* transaction.h -- several changes of a conversation, applied as a dry run first and committed as one group.
 *
 *     maki_transaction_begin     from now on, changes of the conversation are a dry run, visible to this handle alone
 *     ...                        condense, truncate, prune, undo: any number of them
 *     maki_transaction_commit    write the net effect as one group: an event for each synthetic message that stayed (it
 *                                also hides what the messages that it replaced had hidden), one prune for all texts,
 *                                and the run's event with their numbers, `first` and `last`
 *     maki_transaction_free      always; rolls back what was not committed
 *
 * The view afterwards is, byte for byte, that of the dry run. */
#ifndef MAKI_HISTORY_TRANSACTION_H
#define MAKI_HISTORY_TRANSACTION_H

#include "history/conv.h"

typedef struct maki_hide_event maki_hide_event;

typedef struct maki_transaction {
    maki_conv *conv;
    bool dry_run; /* begun, and neither committed nor rolled back */
    maki_log_savepoint mark;
    size_t changes_before;      /* events that changed the view, at maki_transaction_begin */
    uint64_t events_end_before; /* size of the events file, at maki_transaction_begin */
    maki_arena arena;
    maki_hide_event *hide_events; /* the condenses and truncations of the dry run */
    size_t count;
    uint64_t prune_ev; /* number of the prune event that was written; 0: none */
} maki_transaction;

maki_status maki_transaction_begin(maki_transaction *tx, maki_conv *conv, maki_err *err);
/* Write the group.  Its last event is that of the run, with this type and `fields`; *run_event is its number.
 * MAKI_CONFLICT: another writer has changed the view, and nothing is written; new messages are no conflict. */
maki_status maki_transaction_commit(maki_transaction *tx, const char *type, maki_str fields,
                                    uint64_t *run_event, maki_err *err);
/* After maki_transaction_commit: the event that event `ev` of the dry run became. */
uint64_t maki_transaction_written_event(const maki_transaction *tx, uint64_t ev);
/* Discard the dry run. */
void maki_transaction_rollback(maki_transaction *tx);
void maki_transaction_free(maki_transaction *tx); /* accepts one that was zeroed */

#endif
