/* budget.c -- the shares of the layers as the reference has them, and the selection of items by priority. */
#include "assemble/budget.h"

#include "base/sort.h"

const maki_layer_share maki_layer_shares[MAKI_LAYER_COUNT] = {
    { "system", 0.05 },
    { "task", 0.05 },
    { "runtime", 0.03 },
    { "memory.shortTerm", 0.20 },
    { "memory.episodic", 0.15 },
    { "memory.semantic", 0.10 },
    { "memory.procedural", 0.07 },
    { "evidence.observations", 0.25 },
    { "evidence.ragResults", 0.10 },
    { "workBuffer", 0.10 },
};

double maki_budget_of(double window)
{
    return window * 0.9;
}

static bool higher_priority(const void *a, const void *b)
{
    const maki_budget_item *x = a, *y = b;
    return x->priority > y->priority;
}

maki_status maki_budget_fit(maki_budget_item *items, size_t count, double budget, maki_arena *arena,
                            size_t *count_kept, maki_err *err)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i].tokens;
    *count_kept = count;
    if (sum <= budget) return MAKI_OK;

    maki_status st = maki_sort(items, count, sizeof *items, higher_priority, arena, err);
    sum = 0;
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        sum += items[i].tokens;
        if (sum > budget) {
            *count_kept = i;
            break;
        }
    }
    return st;
}
