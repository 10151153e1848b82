/* table.c -- every operation: one row each, sorted by name.
 *
 * A row describes an operation completely: the command, its help, the bindings and the
 * reference page are generated from it.  To add one, write its function in the op_*.c of its group, add a
 * row here and an example in examples/NAME (its input and its answer, a line each), which a test runs. */
#include "ops/operation.h"

/* clang-format off */
/* In parentheses, so that one macro can pass them to another. */
#define FIELDS(...) ((const maki_op_field[]){ __VA_ARGS__, { 0 } })
#define MESSAGES { "messages", "messages", "the messages, oldest first", 1 }
#define RESULT   { "messages", "messages", "the messages that result", 1 }
#define HOME     { "home", "path", "the state directory, in place of $MAKI_HOME", 0 }
#define NOW      { "now", "number", "the time in ms instead of the clock", 0 }
#define COUNTER  { "counter", "object", "{kind: chars4 | const with value | o200k}; chars4 by default", 0 }
#define SUMMARIZER { "summarizer", "object", "for tests, a stub: {chunks, cost, outputTokens} or {kind: invalid | throws}", 0 }

/* The fields of a condense besides the messages, and those of a decision. */
#define CONDENSE_FIELDS                                                                            \
    { "systemPrompt", "string", "counted with what is kept", 0 },                                  \
    { "useNativeTools", "boolean", "preserve the calls of kept results", 0 },                      \
    { "customPrompt", "string", "replaces the built-in instructions", 0 },                         \
    { "supportsImages", "boolean", "the summarizer sees images", 0 },                              \
    SUMMARIZER,                                                                                    \
    { "condensingSummarizer", "object", "used first when it can be called", 0 },                   \
    COUNTER,                                                                                       \
    NOW
#define DECIDE_FIELDS                                                                              \
    { "totalTokens", "number", "of the last request and its answer", 1 },                          \
    { "contextWindow", "number", "of the model, in tokens", 1 },                                   \
    { "maxTokens", "number", "reserved for the answer; 8192 by default", 0 },                      \
    { "autoCondenseContext", "boolean", "condense at the threshold; true by default", 0 },         \
    { "autoCondenseContextPercent", "number", "the threshold; 75 by default", 0 },                 \
    { "profileThresholds", "object", "{profile: percent}; -1 inherits, else 5 to 100", 0 },        \
    { "currentProfileId", "string", "the profile in use", 0 },                                     \
    { "lastMessageTokens", "number", "not yet in totalTokens", 0 }

/* Which facts of the hidden messages the summary of a condense keeps. */
#define FACTS                                                                                      \
    { "summarizer", "object", "{model, input, output} of the model that wrote it", 0 },           \
    { "factsKept", "count", "facts that the summary keeps", 0 },          \
    { "factsLost", "count", "facts that it loses", 0 },                                          \
    { "lost", "array", "the first of those", 0 },                                                  \
    { "fallback", "object", "{summarizer: offline, code, message}: why no model wrote the summary", 0 }

/* `id` is the name with an underscore: the names of the function and of the example contain it.  `typed` has its
 * commands. */
#define FORM(id, by, class, does, in, out)                                                         \
    { .chosen_by = by, .class_name = class, .effect = does, .input = in, .output = out,            \
      .example = EXAMPLE_INPUT_##id, .answer = EXAMPLE_ANSWER_##id }
#define ONE(title, id, words, class, does, in, out, typed)                                         \
    { { title, words, (const maki_op_form[]){ FORM(id, NULL, class, does, in, out) }, 1, typed },  \
      { maki_op_##id, NULL } }
#define PURE(title, id, words, in, out) ONE(title, id, words, "pure", "read", in, out, NONE)
/* Commands on all sessions, not on one conversation. */
#define SYSTEM(title, id, words, in, out, typed)                                                   \
    ONE(title, id, words, "system", "read", in, out, typed)
#define LOGGED(title, id, words, does, in, out, typed)                                             \
    ONE(title, id, words, "conversation", does, in, out, typed)
/* Operations with two forms: on messages, and on a conversation. */
#define BOTH(title, id, words, by, in, out, does, in_on, out_on, typed)                            \
    { { title, words,                                                                              \
        (const maki_op_form[]){ FORM(id, by, "pure", "read", in, out),                             \
                                FORM(id##_conversation, "conversation", "conversation", does,      \
                                     in_on, out_on) },                                             \
        2, typed },                                                                                \
      { maki_op_##id, maki_op_##id##_conversation } }
#define COMMANDS(...) ((const maki_op_command[]){ __VA_ARGS__, { 0 } })
#define NONE COMMANDS({ 0 })
#define ARGS(...) ((const maki_op_argument[]){ __VA_ARGS__, { 0 } })
#define WITH_EXPECT(...) ARGS(__VA_ARGS__, { "--expect HEAD", "expect" })
#define CONVERSATION { "conversation", "conversation", "a path, a task, a session's id, key or name", 1 }
#define REVISION                                                                                   \
    { "seq", "count", "as it was when this was the newest message", 0 },                           \
    { "ev", "count", "with the events up to this one; those written until then by default", 0 }
#define FOCUS { "focus", "string", "what the summary must keep above all", 0 }
#define EXPECT { "expect", "string", "the head it must have; else CONFLICT", 0 }
#define SEQ(words) { "seq", "count", words, 1 }
#define FULLNESS                                                                                   \
    { "contextUsage", "string", "\"75%\" of the window", 1 },                                      \
    { "tokens", "number", "of all that is sent", 1 }, { "window", "number", "", 1 }
#define HIDDEN "messages no longer in view; a summary or a marker is none"
#define EFFECT_DETAILS                                                                             \
    { "restored", "count", "messages in view again", 0 },                                          \
    { "shortened", "count", "messages with less text than before", 0 },                            \
    { "expanded", "count", "messages with more text than before", 0 },                             \
    { "effect", "string", "all of it in words", 0 }
#define EFFECT { "removed", "count", HIDDEN, 1 }, EFFECT_DETAILS
#define CHANGED                                                                                    \
    { "event", "count", "the event that was appended", 1 },                                        \
    { "seq", "count", "the newest message", 1 },                                                   \
    { "head", "string", "the chain there", 1 },                                                    \
    EFFECT,                                                                                        \
    { "visible", "count", "messages in view afterwards", 1 },                                      \
    { "tokensBefore", "number", "of the whole prompt, as session.status counts", 1 },              \
    { "tokensAfter", "number", "the same afterwards", 1 }
#define CHANGE FIELDS(CHANGED)
#define UNDONE(required)                                                                           \
    { "undone", "count", "the event that was undone", required },                                 \
    { "undoneType", "string", "what it was: condense, truncate, rewind, pin ...", required }
#define PROOF                                                                                      \
    FIELDS({ "ok", "boolean", "no damage, or all of it is repaired", 1 },                                  \
           { "messages", "count", "", 1 }, { "events", "count", "", 1 },                           \
           { "found", "count", "damage found now", 1 },                                            \
           { "earlier", "count", "damage recorded earlier", 1 },                                      \
           { "findings", "array", "[{file, offset, seq, ev, what}], the first 100", 1 })
#define SESSION_FIELDS                                                                             \
    { "id", "string", "", 1 }, { "agentId", "string", "", 1 },                                     \
    { "sessionKey", "string", "agent:AGENT:KEY", 0 },                                              \
    { "channel", "string", "that it came from", 0 },                                               \
    { "state", "string", "active or archived", 1 },                                                \
    { "model", "string", "of the newest reply", 1 },                                               \
    { "createdAt", "number", "ms", 1 }, { "messageCount", "count", "", 1 },                        \
    { "tokenUsage", "object", "{input, output} of all its requests, including those for summaries", 1 },                          \
    { "overrides", "object", "{thinking, maxTokens, threshold}", 1 }
/* The options of a run on a conversation; the rest comes from the configuration and the model. */
#define RUN_FIELDS                                                                                 \
    CONVERSATION, SUMMARIZER,                                                                      \
    { "contextWindow", "number", "in tokens; by default that of the configuration or the model", 0 },               \
    { "maxTokens", "number", "reserved for the answer", 0 },                                       \
    { "autoCondenseContext", "boolean", "run at the threshold, not only when the window is full", 0 },         \
    { "autoCondenseContextPercent", "number", "the threshold, in percent of the window", 0 },                                \
    { "autoCondenseContextTokens", "number", "the threshold in tokens; the lower is effective", 0 },               \
    { "profileThresholds", "object", "{profile: percent}; -1 inherits, else 5 to 100", 0 },        \
    { "currentProfileId", "string", "the profile in use; the model by default", 0 },               \
    { "model", "string", "whose window and threshold are used; by default that of the newest reply or of the configuration", 0 },                            \
    { "agent", "string", "whose settings are used; \"default\" by default", 0 },                                  \
    { "provider", "string", "one of `llm` in the configuration", 0 },                              \
    { "keepCount", "count", "how many of the newest messages a condense keeps", 0 },                         \
    { "otherTokens", "number", "tokens sent besides its messages", 0 },                                   \
    { "policy", "string", "maki (the default), roo, clawdbot, files or one of the configuration", 0 }, \
    { "force", "boolean", "run now, even below the threshold", 0 }

const maki_op_row maki_op_table[] = {
    PURE("budget.allocate", budget_allocate,
         "Divide a context window: the maximum of tokens for each layer.",
         FIELDS({ "maxTokens", "count", "the context window", 1 }),
         FIELDS({ "budget", "number", "90 % of the window", 1 },
                { "layers", "object", "a ceiling for each layer; together they are more than the budget", 1 })),

    PURE("budget.fit", budget_fit,
         "Choose items by priority until one does not fit the budget.",
         FIELDS({ "items", "array", "[{id, priority, tokens}]", 1 },
                { "budgetTokens", "number", "the budget", 1 }),
         FIELDS({ "kept", "array", "their ids", 1 })),

    LOGGED("history.append", history_append,
         "Append messages to a conversation; created if missing.", "append",
         FIELDS(CONVERSATION, MESSAGES, EXPECT),
         FIELDS({ "seq", "count", "the newest message", 1 },
                { "head", "string", "the hash of all messages up to it, for expect", 1 }),
         COMMANDS({ "history", "append", "messages from standard input, one JSON object a line", "append", NULL, ARGS({ 0 }) })),

    PURE("history.cleanup", history_cleanup,
         "Remove tags that name no summary or marker in the list.",
         FIELDS(MESSAGES),
         FIELDS(RESULT)),

    BOTH("history.condense", history_condense,
         "Hide the middle of a conversation behind one summary.",
         "messages", FIELDS(MESSAGES,
                CONDENSE_FIELDS,
                { "prevContextTokens", "number", "the tokens now; the result must be less", 1 },
                { "wantRequest", "boolean", "answer with the summarizer's request too", 0 }),
         FIELDS(RESULT,
                { "summary", "string", "its text", 1 },
                { "cost", "number", "of the summarizer", 1 },
                { "newContextTokens", "number", "what is left", 0 },
                { "condenseId", "string", "the id in the tags", 0 },
                { "summarizerCalled", "boolean", "it may have caused cost", 1 },
                { "request", "object", "with wantRequest", 0 },
                { "error", "object", "{code, message} when refused; the messages are unchanged then", 0 }),
         "append",
         FIELDS(CONVERSATION, { "keepCount", "count", "how many of the newest stay; 3 by default", 0 }, FOCUS, SUMMARIZER, EXPECT),
         FIELDS(CHANGED, { "cost", "number", "of the summarizer", 0 }, FACTS),
         COMMANDS({ "history", "condense", "replace the middle by a summary", "change", "Condensed", WITH_EXPECT({ "--keep N", "keepCount" }, { "--focus WORDS", "focus" }) },
                  { "chat", "condense", "replace the middle by a summary", "change", "Condensed", ARGS({ "[KEEP]", "keepCount" }) })),

    LOGGED("history.delete", history_delete,
         "Rewind to before a message: it and all later ones leave the view.", "append",
         FIELDS(CONVERSATION, SEQ("the message"), EXPECT), CHANGE,
         COMMANDS({ "history", "delete", "rewind to before SEQ: it and all later messages leave the view", "change", "Deleted", WITH_EXPECT({ "SEQ", "seq" }) })),

    LOGGED("history.diff", history_diff,
         "How the view differs between two revisions of a conversation.", "read",
         FIELDS(CONVERSATION, { "a", "revision", "{seq, ev}; seq alone: as it was at that message; the newest by default", 0 },
                { "b", "revision", "{seq, ev}; seq alone: as it was at that message; the newest by default", 0 }),
         FIELDS({ "onlyA", "array", "[[from, to]] of messages", 1 },
                { "madeOnlyA", "array", "events whose synthetic message only a shows", 1 },
                { "onlyB", "array", "", 1 }, { "madeOnlyB", "array", "", 1 },
                { "changed", "array", "[[seq, seq]]: messages in both that are shortened in another way", 1 },
                { "messagesA", "count", "", 1 }, { "messagesB", "count", "", 1 },
                { "tokensA", "number", "of all that is sent, as session.status counts", 1 }, { "tokensB", "number", "", 1 }),
         COMMANDS({ "history chat", "diff", "how the view differs between two revisions (SEQ or SEQ:EVENT)", "diff", NULL,
                    ARGS({ "A", "a" }, { "[B]", "b" }) })),

    LOGGED("history.edit", history_edit,
         "Replace a message: rewind to before it and append another.", "append",
         FIELDS(CONVERSATION, SEQ("the message"),
                { "message", "message", "the new message", 0 },
                { "text", "string", "or only its new text: the role stays", 0 }, EXPECT), CHANGE,
         COMMANDS({ "history", "edit", "replace message SEQ by TEXT, with the same role, or by a message in JSON; all later messages leave the view", "change", "Edited",
                    WITH_EXPECT({ "SEQ", "seq" }, { "TEXT", "message" }) })),

    BOTH("history.effective", history_effective,
         "The messages that the model is shown, of a tagged list or of a conversation.",
         "messages", FIELDS(MESSAGES), FIELDS(RESULT),
         "read",
         FIELDS(CONVERSATION, REVISION),
         FIELDS(RESULT, { "tokens", "number", "of all that is sent, as session.status counts", 1 }),
         COMMANDS({ "history", "effective", "what the model is shown; as it was then", "view", NULL,
                    ARGS({ "--seq N", "seq" }, { "--ev N", "ev" }) })),

    LOGGED("history.expand", history_expand,
         "Undo what hides or trims a message.", "append",
         FIELDS(CONVERSATION, SEQ("the message"), EXPECT), FIELDS(CHANGED, UNDONE(0)),
         COMMANDS({ "history chat", "expand", "undo what hides or trims message SEQ", "change", "Expanded", WITH_EXPECT({ "SEQ", "seq" }) })),

    LOGGED("history.export", history_export,
         "Export a conversation in the format of another program.", "read",
         FIELDS(CONVERSATION,
                { "format", "string", "roo, roo-ui, lines, openai or anthropic; roo by default", 0 }, REVISION),
         FIELDS({ "format", "string", "", 1 }, { "export", "any", "the conversation in that format", 1 }),
         COMMANDS({ "history session", "export", "as another program has it", "export", NULL,
                    ARGS({ "--format roo|roo-ui|lines|openai|anthropic", "format" }, { "--seq N", "seq" }, { "--ev N", "ev" }) })),

    LOGGED("history.fork", history_fork,
         "Create a conversation that shares the messages up to one.", "append",
         FIELDS(CONVERSATION, { "path", "path", "the messages file of the new conversation, next to the other", 1 },
                { "seq", "count", "the last message shared; the newest by default", 0 }),
         FIELDS({ "path", "string", "", 1 }, { "seq", "count", "", 1 }),
         COMMANDS({ "history", "fork", "create a conversation that shares the messages up to SEQ", "fork", "Forked", ARGS({ "NEW", "path" }, { "[SEQ]", "seq" }) },
                  { "chat", "fork", "continue in a fork that shares the messages so far", "fork", "Forked", ARGS({ "[SEQ]", "seq" }) })),

    LOGGED("history.fsck", history_fsck,
         "Find damage in a conversation and repair it; nothing is deleted.", "append",
         FIELDS(CONVERSATION, { "repair", "boolean", "false by default", 0 }), PROOF,
         NONE),

    LOGGED("history.import", history_import,
         "Create a conversation from a file of another program.", "append",
         FIELDS({ "source", "path", "the file", 1 }, CONVERSATION,
                { "format", "string", "detected from its first lines by default", 0 }),
         FIELDS({ "format", "string", "which it was", 1 }, { "messages", "count", "", 1 },
                { "events", "count", "", 1 }, { "skipped", "count", "broken lines", 1 },
                { "other", "count", "lines that are not messages", 1 }),
         COMMANDS({ "history", "import", "create a conversation from Roo Code, OpenAI or Anthropic arrays, Claude Code, Codex, opencode, Pi or Clawdbot", "import", NULL,
                    ARGS({ "SOURCE", "source" }, { "PATH", "conversation" }, { "--format NAME", "format" }) })),

    PURE("history.keep", history_keep,
         "The last messages, and the tool calls from before them that they need.",
         FIELDS(MESSAGES,
                { "keepCount", "count", "how many; 3 by default", 0 }),
         FIELDS({ "keepMessages", "messages", "the tail", 1 },
                { "toolUseBlocksToPreserve", "array", "calls of kept results", 1 },
                { "reasoningBlocksToPreserve", "array", "the reasoning blocks next to them", 1 })),

    PURE("history.limit_turns", history_limit_turns,
         "Keep the newest turns, by the lowest of the limits.",
         FIELDS(MESSAGES,
                { "global", "count", "turns for all users; 0 is no limit", 0 },
                { "perProvider", "object", "{provider: turns}", 0 },
                { "perUser", "count", "turns for this user", 0 },
                { "provider", "string", "the provider in use", 0 }),
         FIELDS(RESULT)),

    LOGGED("history.log", history_log,
         "Every message of a conversation, and every event.", "read",
         FIELDS(CONVERSATION),
         FIELDS({ "messages", "array", "[{seq, ts, tokens, hidden, pinned, message}]", 1 },
                { "events", "array", "as they stand in the file", 1 },
                { "steps", "array", "[{event, removed, restored, shortened, expanded, effect, tokensBefore, tokensAfter}]: what each did", 1 }),
         COMMANDS({ "history", "log", "every message, hidden ones marked, and what was done", "log", NULL, ARGS({ 0 }) })),

    LOGGED("history.pin", history_pin,
         "Pin a message: no step may hide it.", "append",
         FIELDS(CONVERSATION, SEQ("the message"), EXPECT), CHANGE,
         COMMANDS({ "history session chat", "pin", "pin message SEQ: nothing may hide it", "change", "Pinned", WITH_EXPECT({ "SEQ", "seq" }) })),

    PURE("history.repair_pairs", history_repair_pairs,
         "OpenAI shape: put one result right after every call.",
         FIELDS(MESSAGES),
         FIELDS(RESULT)),

    PURE("history.repair_results", history_repair_results,
         "Anthropic shape: make the results in a new user message match the calls before it.",
         FIELDS({ "history", "messages", "what came before", 1 },
                { "message", "message", "the new user message", 1 }),
         FIELDS({ "message", "message", "the repaired message", 1 })),

    PURE("history.request", history_request,
         "The messages to send: the effective ones since the last summary.",
         FIELDS(MESSAGES,
                NOW),
         FIELDS(RESULT)),

    BOTH("history.rewind", history_rewind,
         "Rewind: remove later events and messages, and undo the condenses and truncations among them.",
         "api", FIELDS({ "ui", "array", "the events", 1 },
                { "api", "messages", "the messages", 1 },
                { "by", "string", "\"ts\" or \"index\"", 1 },
                { "value", "number", "a time of an event, or its index", 1 },
                { "includeTarget", "boolean", "keep the target event", 0 },
                { "skipCleanup", "boolean", "leave tags that name nothing", 0 },
                NOW),
         FIELDS({ "ui", "array", "the events that stay", 1 },
                { "api", "messages", "the messages that stay", 1 },
                { "apiWritten", "boolean", "did the messages change?", 1 }),
         "append",
         FIELDS(CONVERSATION, { "seq", "count", "the message to rewind to: it becomes the newest in view", 0 },
                { "ev", "count", "or the event to rewind to", 0 },
                { "value", "number", "or the time in ms: to before the first message of that time", 0 },
                { "includeTarget", "boolean", "with value: keep that message", 0 }, EXPECT),
         CHANGE,
         COMMANDS({ "history", "rewind", "rewind to message SEQ, to a time or to an event", "change", "Rewound",
                    WITH_EXPECT({ "[SEQ]", "seq" }, { "--time MS", "value" }, { "--ev EVENT", "ev" }) },
                  { "chat", "rewind", "rewind to message SEQ and continue from there", "change", "Rewound", ARGS({ "SEQ", "seq" }) })),

    PURE("history.sequence", history_sequence,
         "Run several steps on one list of messages.",
         FIELDS(MESSAGES,
                { "steps", "array", "[{op, ...}]: history operations, append, slice, drop_markers, drop_summaries", 1 },
                NOW),
         FIELDS(RESULT,
                { "stepResults", "array", "of truncations and refused condenses", 1 })),

    PURE("history.since_summary", history_since_summary,
         "The messages from the last summary on, beginning with a user message.",
         FIELDS(MESSAGES,
                NOW),
         FIELDS(RESULT)),

    LOGGED("history.status", history_status,
         "The size of a conversation and of its view.", "read",
         FIELDS(CONVERSATION,
                { "model", "string", "count for this model; that of the newest reply by default", 0 }),
         FIELDS({ "messages", "count", "in the log", 1 }, { "events", "count", "", 1 },
                { "head", "string", "the hash of all messages, for expect", 1 },
                { "visible", "count", "messages in view", 1 },
                { "tokens", "number", "of the whole prompt, as session.status counts", 1 },
                { "family", "string", "the encoding they were counted in", 1 },
                { "exact", "boolean", "not estimated", 1 }, { "pinned", "count", "", 1 },
                { "readOnly", "boolean", "", 1 }),
         COMMANDS({ "history", "status", "the size of the conversation and of its view", "fields", NULL,
                    ARGS({ "--model NAME", "model" }) })),

    LOGGED("history.trim", history_trim,
         "Trim one block of a message in view to its head and tail.", "append",
         FIELDS(CONVERSATION, SEQ("the message"),
                { "block", "count", "which block, from 0", 0 },
                { "head", "count", "characters kept at its start; 1500 by default", 0 },
                { "tail", "count", "characters kept at its end; 1500 by default", 0 }, EXPECT),
         CHANGE,
         COMMANDS({ "history", "trim", "trim a long block to its head and tail", "change", "Trimmed",
                    WITH_EXPECT({ "SEQ", "seq" }, { "--block N", "block" }, { "--head N", "head" }, { "--tail N", "tail" }) })),

    BOTH("history.truncate", history_truncate,
         "Hide a share of the visible messages behind a marker.",
         "messages", FIELDS(MESSAGES,
                { "fraction", "number", "of those after the first; 0.5 by default", 0 },
                NOW),
         FIELDS(RESULT,
                { "messagesRemoved", "count", "how many were hidden", 1 },
                { "truncationId", "string", "the id in the tags", 1 }),
         "append",
         FIELDS(CONVERSATION, { "fraction", "number", "of those after the first; 0.5 by default", 0 }, EXPECT),
         CHANGE,
         COMMANDS({ "history", "truncate", "hide the older half behind a marker", "change", "Truncated", WITH_EXPECT({ "--fraction F", "fraction" }) })),

    LOGGED("history.undo", history_undo,
         "Undo an event; by default the newest that is not undone.", "append",
         FIELDS(CONVERSATION, { "ev", "count", "the event", 0 }, EXPECT),
         FIELDS(CHANGED, UNDONE(1)),
         COMMANDS({ "history chat", "undo", "undo the newest step, or EVENT; undoing an undo redoes it", "change", "Undone", WITH_EXPECT({ "[EVENT]", "ev" }) })),

    LOGGED("history.unpin", history_unpin,
         "Unpin a message: it may be hidden again.", "append",
         FIELDS(CONVERSATION, SEQ("the message"), EXPECT), CHANGE,
         COMMANDS({ "history session", "unpin", "unpin message SEQ: it may be hidden again", "change", "Unpinned", WITH_EXPECT({ "SEQ", "seq" }) })),

    LOGGED("history.verify", history_verify,
         "Verify that no byte of a conversation was changed.", "read",
         FIELDS(CONVERSATION), PROOF,
         NONE),

    PURE("manage.accept", manage_accept,
         "Did a condense save enough?",
         FIELDS({ "tokensBefore", "number", "before it", 1 },
                { "tokensAfter", "number", "after it", 1 },
                { "minReduction", "number", "the minimum share saved; 0.2 by default", 0 }),
         FIELDS({ "accepted", "boolean", "", 1 },
                { "reduction", "number", "the share saved", 1 })),

    PURE("manage.check", manage_check,
         "Is the context window full enough to manage it?",
         FIELDS(DECIDE_FIELDS),
         FIELDS({ "result", "boolean", "manage it now", 1 },
                { "tokens", "number", "with the last message", 1 },
                { "allowedTokens", "number", "90 % of the window less the reserve", 1 },
                { "contextPercent", "number", "of the window in use", 1 },
                { "threshold", "number", "the effective one", 1 },
                { "thresholdInvalid", "boolean", "the profile's was ignored", 1 })),

    LOGGED("manage.prepare", manage_prepare,
         "Write the summary that the next condense will need, if the threshold is near; hides nothing.", "append",
         FIELDS(RUN_FIELDS),
         FIELDS({ "due", "boolean", "the threshold is near", 1 },
                { "contextPercent", "number", "of the window in use", 1 },
                { "made", "boolean", "false: there is one already, or it is not due", 1 },
                { "event", "count", "the event that holds it", 0 },
                { "cost", "number", "", 1 }, FACTS),
         NONE),

    BOTH("manage.run", manage_run,
         "Free space in the window if it is too full: condense, else truncate (policy roo); on a conversation by any policy.",
         "messages",
         FIELDS(MESSAGES,
                DECIDE_FIELDS,
                CONDENSE_FIELDS,
                { "minReduction", "number", "a condense that saves less counts as failed", 0 },
                { "policy", "string", "\"roo\"", 0 }),
         FIELDS({ "action", "string", "none, condense or truncate", 1 },
                RESULT,
                { "prevContextTokens", "number", "before", 1 },
                { "cost", "number", "", 1 },
                { "summary", "string", "", 1 },
                { "summarizerCalled", "boolean", "", 1 },
                { "error", "string", "why a condense failed", 0 },
                { "newContextTokens", "number", "after a condense", 0 },
                { "condenseId", "string", "", 0 },
                { "newContextTokensAfterTruncation", "number", "after a truncation", 0 },
                { "messagesRemoved", "count", "", 0 },
                { "truncationId", "string", "", 0 }),
         "append",
         FIELDS(RUN_FIELDS, FOCUS, { "preview", "boolean", "a dry run: report what would be done", 0 }),
         FIELDS({ "reason", "string", "none, threshold, over or forced", 1 },
                { "action", "string", "the last step, or none", 1 },
                { "tokensBefore", "number", "", 1 }, { "tokensAfter", "number", "", 1 },
                { "reduction", "number", "the share saved", 1 },
                { "messagesRemoved", "count", HIDDEN, 1 }, EFFECT_DETAILS,
                { "compressionTime", "number", "milliseconds", 1 },
                { "cost", "number", "", 1 }, FACTS,
                { "allowed", "number", "the maximum that may be sent", 1 },
                { "target", "number", "the tokens that a run aims for", 1 },
                { "within", "boolean", "the view fits", 1 },
                { "waits", "boolean", "the last run failed and the conversation has hardly grown since", 0 },
                { "failed", "boolean", "nothing was saved, or the window is still too full", 0 },
                { "preview", "boolean", "nothing was changed", 0 },
                { "hides", "array", "of a dry run: [[from, to]] of messages that would leave the view", 0 },
                { "shortens", "array", "of a dry run: messages that would be shortened, the first 200", 0 },
                { "summary", "string", "of a dry run: the text of the summary that would be there", 0 },
                { "run", "count", "for manage.undo", 0 },
                { "contextWindow", "number", "the window that was used", 1 },
                { "windowFrom", "string", "where it comes from", 1 },
                { "windowSmall", "boolean", "it is below the setting window.warning", 0 },
                { "threshold", "number", "in percent", 0 },
                { "thresholdTokens", "number", "in tokens; the lower is effective", 0 },
                { "thresholdInvalid", "boolean", "the profile's was ignored", 0 },
                { "model", "string", "", 0 },
                { "steps", "array", "[{step, event, undone, refused}]", 1 }),
         COMMANDS({ "session", "compact", "free space in the window now", "run", NULL,
                    ARGS({ "--policy NAME", "policy" }, { "--window TOKENS", "contextWindow" },
                         { "--focus WORDS", "focus" },
                         { "--dry-run", "preview" }, { "=true", "force" }) })),

    LOGGED("manage.undo", manage_undo,
         "Undo all steps of a run of manage.run; the newest by default.", "append",
         FIELDS(CONVERSATION, { "run", "count", "the event `run` of its report", 0 }),
         FIELDS({ "run", "count", "which it was", 1 },
                { "events", "count", "how many events were undone", 1 }, EFFECT,
                { "tokensBefore", "number", "", 1 }, { "tokensAfter", "number", "", 1 }),
         COMMANDS({ "history", "undo-run", "undo all steps of the newest run, or of RUN", "fields", NULL, ARGS({ "[RUN]", "run" }) })),

    PURE("memory.hybrid_score", memory_hybrid_score,
         "One score from similarity and keywords.",
         FIELDS({ "semantic", "number", "0 to 1", 0 },
                { "keyword", "number", "0 to 1", 0 },
                { "semanticWeight", "number", "0.7 by default", 0 },
                { "keywordWeight", "number", "0.3 by default", 0 }),
         FIELDS({ "score", "number", "", 1 })),

    PURE("profile.strategy", profile_strategy,
         "The built-in settings of a model: when to condense, with which model, how much.",
         FIELDS({ "modelId", "string", "the model", 1 }),
         FIELDS({ "threshold", "number", "percent", 1 },
                { "condenseModel", "string", "", 1 },
                { "compressionRatio", "number", "the share to save", 1 },
                { "keepMessages", "count", "", 1 })),

    PURE("prompt.bootstrap_limit", prompt_bootstrap_limit,
         "The maximum of characters of a bootstrap file.",
         FIELDS({ "file", "string", "its name", 1 }),
         FIELDS({ "maxChars", "count", "", 1 })),

    PURE("prompt.sections", prompt_sections,
         "The sections of the system prompt, in order.",
         FIELDS({ "mode", "string", "full, minimal or none", 1 }),
         FIELDS({ "sections", "array", "their names", 1 })),

    PURE("prompt.truncate_file", prompt_truncate_file,
         "Shorten a file: 70 % head, 20 % tail, a marker between.",
         FIELDS({ "content", "string", "the file", 1 },
                { "maxChars", "count", "in UTF-16 units", 1 }),
         FIELDS({ "text", "string", "", 1 })),

    PURE("provider.is_overflow", provider_is_overflow,
         "Is this error \"the context is too long\"?",
         FIELDS({ "error", "any", "as the client library shows it", 1 }),
         FIELDS({ "result", "boolean", "", 1 })),

    PURE("prune.hard_clear", prune_hard_clear,
         "Keep only the newest messages.",
         FIELDS(MESSAGES,
                { "keepLast", "count", "3 by default", 0 }),
         FIELDS(RESULT)),

    PURE("prune.level", prune_level,
         "Choose a kind of pruning by how full the window is.",
         FIELDS({ "totalTokens", "number", "in use", 1 },
                { "contextWindow", "number", "of the model", 1 }),
         FIELDS({ "action", "string", "none, soft_trim or hard_clear", 1 },
                { "targetTokens", "number", "after a soft trim, else null", 1 })),

    PURE("prune.soft_trim", prune_soft_trim,
         "Replace all but the newest messages by a summary.",
         FIELDS(MESSAGES,
                SUMMARIZER,
                { "keepLast", "count", "3 by default", 0 }),
         FIELDS(RESULT)),

    PURE("prune.tools", prune_tools,
         "Shorten and clear old tool results.",
         FIELDS(MESSAGES,
                { "contextWindowTokens", "number", "of the model; 0: change nothing", 1 },
                { "settings", "object", "keepLastAssistants, softTrimRatio, hardClearRatio, minPrunableToolChars, softTrim, hardClear, tools", 0 }),
         FIELDS(RESULT,
                { "messagesChanged", "count", "", 1 })),

    LOGGED("request.build", request_build,
         "The body of the request that would be sent for a conversation.", "read",
         FIELDS(CONVERSATION,
                { "protocol", "string", "one of those of the setting llm.*.protocol", 1 },
                { "model", "string", "", 1 },
                { "provider", "string", "openai, deepseek, zai ...: how reasoning is sent; by default chosen by the model", 0 },
                { "maxTokens", "count", "of the answer", 0 },
                { "contextLength", "count", "ollama: the window to load the model with", 0 },
                { "stream", "boolean", "false by default", 0 },
                { "system", "any", "the system prompt: a string, or several", 0 },
                { "before", "messages", "retrieved memories: right before the newest message of the user", 0 },
                { "tools", "array", "[{name, description, input_schema}], or in any provider's shape", 0 },
                { "toolChoice", "string", "auto, none, required or the name of a tool", 0 },
                { "toolStyle", "string", "tools, or functions: the older form of OpenAI's requests", 0 },
                { "thinking", "string", "off, minimal, low, medium or high", 0 },
                { "temperature", "number", "", 0 }, REVISION),
         FIELDS({ "request", "object", "the body", 1 }),
         NONE),

    LOGGED("session.delete", session_delete,
         "A session and all its messages, off the disk; this alone cannot be undone.", "append",
         FIELDS(CONVERSATION, { "yes", "boolean", "must be true", 0 }),
         FIELDS({ "id", "string", "", 1 }, { "messages", "count", "that it had", 1 }),
         COMMANDS({ "session", "delete", "it and all its messages, off the disk; asks first", "delete", NULL, ARGS({ "--yes", "yes" }) })),

    LOGGED("session.fork", session_fork,
         "A new session of the same agent that shares the messages up to one.", "append",
         FIELDS(CONVERSATION, { "seq", "count", "the last message shared; the newest by default", 0 }),
         FIELDS(SESSION_FIELDS, { "title", "string", "that of the session it comes from", 1 },
                { "seq", "count", "the last message shared: never between a call and its result", 1 }),
         COMMANDS({ "session", "fork", "a new session that shares the messages up to SEQ", "session", NULL, ARGS({ "[SEQ]", "seq" }) })),

    LOGGED("session.limit", session_limit,
         "Hide the oldest turns of a session that has more than its limit.", "append",
         FIELDS(CONVERSATION,
                { "provider", "string", "whose limit counts; that of the model of the newest reply by default", 0 },
                { "limit", "count", "in place of the settings; 0 is none", 0 },
                { "preview", "boolean", "a dry run: report what would be left", 0 }),
         FIELDS({ "limit", "count", "the effective one; 0: none", 1 },
                { "turns", "count", "in view before", 1 }, { "left", "count", "in view now", 1 },
                { "event", "count", "that hid them; 0: nothing had to be hidden", 1 }, EFFECT),
         COMMANDS({ "session", "limit", "hide turns over its limit", "limit", NULL,
                    ARGS({ "--limit N", "limit" }, { "--provider NAME", "provider" }, { "--dry-run", "preview" }) })),

    SYSTEM("session.list", session_list,
         "All sessions, the newest first.",
         FIELDS({ "agent", "string", "of this agent only", 0 },
                { "client", "string", "of this client only", 0 },
                { "model", "string", "with this model only", 0 },
                { "state", "string", "active, archived, or failed: the newest request failed", 0 },
                { "title", "string", "only those with all these words in their title or key, in any case and language", 0 },
                { "limit", "count", "maximum; 50 by default, at most 1000", 0 },
                { "offset", "count", "skip as many of the newest", 0 },
                HOME),
         FIELDS({ "sessions", "array", "[{id, agentId, sessionKey, channel, state, model, createdAt, messageCount, tokenUsage, overrides, title, client, updatedAt, messages, errors, lastError, lastAction, contextUsage, tokens, window}]; the last three as in session.status; lastError {ts, status, message} if the newest request failed, lastAction {ts, type} if something changed the view", 1 },
                { "all", "count", "how many match", 1 },
                { "agents", "array", "the values over all sessions, at most 50", 1 },
                { "clients", "array", "the same", 1 }, { "models", "array", "the same", 1 },
                { "note", "string", "why a sessions.json could not be used or written", 0 }),
         COMMANDS({ "session", "list", "the newest conversations", "sessions", NULL,
                    ARGS({ "--agent NAME", "agent" }, { "--client NAME", "client" }, { "--model NAME", "model" },
                         { "--state active|archived|failed", "state" }, { "--title WORDS", "title" }, { "--limit N", "limit" },
                         { "--offset N", "offset" }) })),

    LOGGED("session.messages", session_messages,
         "Messages of a conversation for people to read, in view or not.", "read",
         FIELDS(CONVERSATION,
                { "from", "count", "the first message", 1 },
                { "to", "count", "the last; at most 200 messages are answered", 1 },
                { "chars", "count", "characters of each text; 4000 by default", 0 },
                { "ev", "count", "what is hidden, pinned and shortened: as it was at this event", 0 }),
         FIELDS({ "messages", "array", "[{seq, role, ts, tokens, fullTokens, hidden, pinned, shortened, model, parts, exchange}]; parts are of type text, thinking, call, result, image, file or other; exchange is the request that the message answers", 1 }),
         NONE),

    LOGGED("session.outline", session_outline,
         "The skeleton of a conversation: what is in view, what is hidden and why, steps, errors.", "read",
         FIELDS(CONVERSATION, REVISION),
         FIELDS(SESSION_FIELDS, { "title", "string", "", 1 }, { "client", "string", "the agent or program", 1 },
                { "updatedAt", "number", "ms", 1 },
                { "last", "count", "the newest message", 1 },
                { "events", "count", "", 1 },
                { "head", "string", "the chain there", 1 },
                { "visible", "count", "messages in view", 1 },
                { "rows", "array", "in order: [\"m\", from, to] in view, [\"h\", from, to, ev, why] hidden by that event, [\"s\", ev] a summary or marker in view; one more number: how many forks above the event is", 1 },
                { "pins", "array", "pinned messages", 1 },
                { "shortened", "array", "messages that are shown shortened", 1 },
                { "steps", "array", "[{ev, at, ts, type, active}]: every event that changes the view or a pin", 1 },
                { "errors", "array", "[{ev, at, ts}]: errors of providers, the newest 500", 1 }),
         NONE),

    LOGGED("session.messages", session_messages,
         "Messages of a conversation for people to read, in view or not.", "read",
         FIELDS(CONVERSATION,
                { "from", "count", "the first message", 1 },
                { "to", "count", "the last; at most 200 messages are answered", 1 },
                { "chars", "count", "characters of each text; 4000 by default", 0 },
                { "ev", "count", "what is hidden, pinned and shortened: as it was at this event", 0 }),
         FIELDS({ "messages", "array", "[{seq, role, ts, tokens, fullTokens, hidden, pinned, shortened, model, parts, exchange}]; parts are of type text, thinking, call, result, image, file or other; exchange is the request that the message answers", 1 }),
         NONE),

    LOGGED("session.outline", session_outline,
         "The skeleton of a conversation: what is in view, what is hidden and why, steps, errors.", "read",
         FIELDS(CONVERSATION, REVISION),
         FIELDS(SESSION_FIELDS, { "title", "string", "", 1 },
                { "updatedAt", "number", "ms", 1 },
                { "last", "count", "the newest message", 1 },
                { "events", "count", "", 1 },
                { "head", "string", "the chain there", 1 },
                { "visible", "count", "messages in view", 1 },
                { "rows", "array", "in order: [\"m\", from, to] in view, [\"h\", from, to, ev, why] hidden by that event, [\"s\", ev] a summary or marker in view; one more number: how many forks above the event is", 1 },
                { "pins", "array", "pinned messages", 1 },
                { "shortened", "array", "messages that are shown shortened", 1 },
                { "steps", "array", "[{ev, at, ts, type, active}]: every event that changes the view or a pin", 1 },
                { "errors", "array", "[{ev, at, ts}]: errors of providers, the newest 500", 1 }),
         NONE),

    PURE("session.parse_key", session_parse_key,
         "The parts of a session key.",
         FIELDS({ "key", "string", "agent:AGENT:KEY", 1 }),
         FIELDS({ "agentId", "string", "", 1 },
                { "mainKey", "string", "", 1 })),

    LOGGED("session.rename", session_rename,
         "Another name for a session; its key is agent:AGENT:NAME afterwards.", "append",
         FIELDS(CONVERSATION, { "name", "string", "no other active session of the agent has it", 1 }),
         FIELDS(SESSION_FIELDS),
         COMMANDS({ "session", "rename", "it is found as NAME from now on", "session", NULL, ARGS({ "NAME", "name" }) })),

    LOGGED("session.request", session_request,
         "What one recorded request consisted of, and what changed since the one before.", "read",
         FIELDS(CONVERSATION,
                { "ev", "count", "the event of its manifest; the newest request by default", 0 },
                { "body", "boolean", "also the request rebuilt from the log", 0 }),
         FIELDS({ "ev", "count", "", 1 }, { "at", "count", "the newest message when it ended", 1 },
                { "ts", "number", "ms", 1 },
                { "protocol", "string", "", 0 }, { "upstream", "string", "", 0 }, { "path", "string", "", 0 },
                { "model", "string", "", 1 }, { "status", "count", "of HTTP; 0: no reply", 1 },
                { "end", "string", "complete, incomplete, cut, error ...", 0 },
                { "stop", "any", "the provider's reason", 0 },
                { "firstMs", "number", "to the first byte of the reply", 1 }, { "ms", "number", "in all", 1 },
                { "bytes", "count", "of the body", 1 }, { "hash", "string", "of the body", 0 },
                { "error", "any", "the words of the provider or the network", 0 },
                { "usage", "any", "{input, output, cacheRead, cacheWrite, reasoning, cost}, or null", 1 },
                { "parts", "array", "in order: {part: system | tools, tokens}, {part: messages, from, to, tokens}, {part: summary | marker, ev, tokens}", 1 },
                { "tokens", "number", "of all parts", 1 },
                { "reply", "count", "the message that is the reply; 0: none was recorded", 1 },
                { "before", "any", "{ev} of the request before it, or null", 1 },
                { "changed", "object", "since then: {system, tools, added, removed, synthetic, first}; first is the first message that is not at its place any more, 0: none", 0 },
                { "body", "any", "the body; null: its protocol cannot be written", 0 },
                { "exact", "boolean", "body has the bytes that were sent", 1 },
                { "note", "string", "what is not known of it", 0 }),
         NONE),

    LOGGED("session.resolve", session_resolve,
         "Find the session of a channel's message; created if missing.", "append",
         FIELDS({ "channel", "string", "telegram, discord ...; not needed with scope global", 0 },
                { "sender", "string", "who wrote it", 0 },
                { "group", "string", "the group, if it was written in one", 0 },
                { "thread", "string", "in a thread: the id of its parent", 0 },
                { "agent", "string", "\"default\" by default", 0 },
                { "scope", "string", "global, per-group or per-sender; agents.AGENT.scope by default", 0 },
                { "client", "string", "the program that creates it, for session.list", 0 },
                { "new", "boolean", "archive the current one and create another with its key", 0 },
                HOME),
         FIELDS({ "made", "boolean", "it is new", 1 }, SESSION_FIELDS,
                { "note", "string", "why its sessions.json could not be used or written", 0 }),
         COMMANDS({ "session", "resolve", "find the session of a message; created if missing (--new: archive the current one)", "session", NULL,
                    ARGS({ "--channel NAME", "channel" }, { "--sender ID", "sender" }, { "--group ID", "group" },
                         { "--thread PARENT", "thread" }, { "--agent NAME", "agent" },
                         { "--scope global|per-group|per-sender", "scope" }, { "--new", "new" }) })),

    LOGGED("session.set", session_set,
         "Override settings for a session, or archive it.", "append",
         FIELDS(CONVERSATION,
                { "thinking", "string", "off, minimal, low, medium or high; null removes the override", 0 },
                { "maxTokens", "count", "of an answer; null removes the override", 0 },
                { "threshold", "number", "percent of the window at which a run starts, 5 to 100; null removes the override", 0 },
                { "state", "string", "active or archived", 0 }),
         FIELDS(SESSION_FIELDS),
         COMMANDS({ "session", "set", "override settings for this session; \"default\" removes an override", "session", NULL,
                    ARGS({ "--thinking off|minimal|low|medium|high|default", "thinking" }, { "--max-tokens N|default", "maxTokens" },
                         { "--threshold PERCENT|default", "threshold" },
                         { "--state active|archived", "state" }) })),

    LOGGED("session.show", session_show,
         "An excerpt of each message of a conversation.", "read",
         FIELDS(CONVERSATION,
                { "limit", "count", "messages, the newest of the view; 200 by default", 0 }),
         FIELDS({ "messages", "count", "in the log", 1 }, { "events", "count", "", 1 },
                { "visible", "count", "messages in view", 1 },
                FULLNESS, { "view", "array", "[{seq, role, tokens, at, blocks: [{type, text, name}]}]", 1 },
                { "exchanges", "array", "the newest requests: events manifest, usage, provider_error", 1 }),
         COMMANDS({ "session", "show", "an excerpt of each message", "show", NULL, ARGS({ "--limit N", "limit" }) })),

    LOGGED("session.status", session_status,
         "How full the window of a session is, and with what.", "read",
         FIELDS(CONVERSATION,
                { "model", "string", "count for this model; that of the newest reply by default", 0 },
                { "window", "number", "in tokens; that of the model by default", 0 },
                NOW),
         FIELDS(FULLNESS, { "messagesCount", "count", "in view", 1 },
                { "compressionCount", "count", "summaries and truncations in effect", 1 },
                { "lastCompression", "string", "\"2 minutes ago\", \"never\"", 1 },
                { "windowFrom", "string", "its source: caller, profile, configuration, agent, provider, table (of models) or default", 1 },
                { "countedFor", "string", "the model; \"\": unknown", 1 },
                { "scale", "number", "its tokens for one of o200k_base", 1 },
                { "exact", "boolean", "not estimated", 1 }, { "pinned", "count", "", 1 },
                { "reserved", "number", "tokens of the window kept free for the answer", 1 },
                { "threshold", "number", "percent of the window at which a run starts", 0 },
                { "thresholdTokens", "number", "the same in tokens; the lower is effective", 0 },
                { "parts", "array", "[{part, messages, tokens}]: system, tools, systemMessages, user, assistant, toolCalls, toolResults, summaries, markers, other", 1 },
                SESSION_FIELDS),
         COMMANDS({ "session chat", "status", "how full the window is, and with what", "status", NULL,
                    ARGS({ "--model NAME", "model" }, { "--window TOKENS", "window" }) })),

    LOGGED("session.steps", session_steps,
         "What steps did, and what their events say.", "read",
         FIELDS(CONVERSATION, { "evs", "array", "numbers of events, at most 100: steps, and errors of providers", 1 }),
         FIELDS({ "steps", "array", "[{ev, at, ts, type, active, removed, effect, tokensBefore, tokensAfter, and the fields of its type}]", 1 }),
         NONE),

    LOGGED("session.usage", session_usage,
         "What the requests of a conversation used, and how its context grew.", "read",
         FIELDS(CONVERSATION, { "points", "count", "at most this many points of the curve; 400 by default", 0 }),
         FIELDS({ "requests", "count", "", 1 }, { "errors", "count", "of providers", 1 },
                { "input", "number", "tokens of all requests, as providers reported them", 1 },
                { "output", "number", "", 1 }, { "cacheRead", "number", "", 1 },
                { "cacheWrite", "number", "", 1 }, { "reasoning", "number", "", 1 },
                { "cost", "any", "dollars; null: no event has a cost", 1 },
                { "notSent", "number", "tokens of messages that were hidden or shortened when a request was sent, over all requests", 1 },
                { "firstTs", "number", "of the first request", 0 }, { "lastTs", "number", "of the newest", 0 },
                { "last", "any", "the newest request, as in session.messages, or null", 1 },
                { "points", "array", "[[ev, at, ts, tokens]]: the prompt of each request; without requests, the view at some messages, ev 0", 1 },
                { "steps", "array", "[{ev, at, ts, type, tokensBefore, tokensAfter}]: those in effect, the newest 1000", 1 }),
         NONE),

    PURE("tokens.calibrate", tokens_calibrate,
         "Learn a model's factor from what a reply reported.",
         FIELDS({ "model", "string", "", 1 },
                { "counted", "number", "what tokens.count answered as counted", 1 },
                { "reported", "number", "the input tokens of the reply's usage, cached ones included", 1 },
                { "fixed", "number", "what tokens.count answered as fixed; 0 by default", 0 },
                { "calibration", "object", "{model: {factor, error, samples}}: earlier results", 0 }),
         FIELDS({ "calibration", "object", "the new result", 1 },
                { "used", "boolean", "false: the numbers are not plausible and were ignored", 1 },
                { "factor", "number", "", 1 },
                { "error", "number", "the mean error, as a share", 1 },
                { "samples", "count", "", 1 })),

    PURE("tokens.context", tokens_context,
         "How full the context is, from Roo's UI messages.",
         FIELDS({ "events", "array", "oldest first", 1 }),
         FIELDS({ "contextTokens", "number", "from the newest event that has them", 1 },
                { "totalCost", "number", "of all", 1 })),

    PURE("tokens.count", tokens_count,
         "The tokens of content by the reference's counter; of text, messages and tools for a model.",
         FIELDS({ "content", "any", "a string or an array of blocks; alone: the reference's rules, times 1.5", 0 },
                { "counter", "object", "for content alone: {kind: chars4 | const with value | o200k}; o200k by default", 0 },
                { "text", "string", "", 0 },
                { "messages", "array", "in the shape of Anthropic, OpenAI or Gemini", 0 },
                { "system", "any", "the system prompt, a string or blocks", 0 },
                { "tools", "array", "definitions, in the shape of the provider", 0 },
                { "model", "string", "whose tokens to count", 0 },
                { "encoding", "string", "o200k_base (the default), cl100k_base or claude, whatever the model", 0 },
                { "calibration", "object", "the result of tokens.calibrate", 0 },
                { "detail", "boolean", "report the parts of each message", 0 }),
         FIELDS({ "tokens", "number", "the factor times counted, rounded up, and fixed", 1 },
                { "exact", "boolean", "the provider counts the same", 0 },
                { "error", "number", "the maximum error, as a share", 0 },
                { "family", "string", "of the model", 0 },
                { "encoding", "string", "the encoding it was counted in", 0 },
                { "factor", "number", "", 0 },
                { "counted", "count", "tokens of text in that encoding", 0 },
                { "fixed", "count", "of images, files and the chat format: the factor is not for them", 0 },
                { "tools", "count", "of these, the definitions of tools", 0 },
                { "reply", "count", "of fixed, the beginning of the reply", 0 },
                { "perMessage", "array", "[{tokens, text, reasoning, calls, results, images, files, overhead}]", 0 })),

    PURE("tokens.decode", tokens_decode,
         "The text of token ids.",
         FIELDS({ "tokens", "array", "ids", 1 },
                { "encoding", "string", "o200k_base by default", 0 },
                { "model", "string", "the encoding of this model", 0 }),
         FIELDS({ "valid", "boolean", "it is UTF-8", 1 },
                { "text", "string", "when it is", 0 },
                { "bytes", "string", "base64, when it is not", 0 },
                { "badByte", "count", "where it stops being UTF-8", 0 })),

    PURE("tokens.encode", tokens_encode,
         "The token ids of a text.",
         FIELDS({ "text", "string", "", 1 },
                { "encoding", "string", "o200k_base by default", 0 },
                { "model", "string", "the encoding of this model", 0 },
                { "special", "boolean", "special tokens like <|endoftext|> are one token each, not plain text", 0 }),
         FIELDS({ "tokens", "array", "ids", 1 },
                { "count", "count", "", 1 },
                { "encoding", "string", "", 1 })),

    PURE("tokens.estimate", tokens_estimate,
         "Characters / 4, rounded up.",
         FIELDS({ "text", "string", "", 1 }),
         FIELDS({ "tokens", "number", "", 1 })),

    PURE("tokens.models", tokens_models,
         "How the tokens of a model are counted: family, encoding, factor and error; without a model, all families.",
         FIELDS({ "model", "string", "any provider's spelling", 0 },
                { "calibration", "object", "the result of tokens.calibrate", 0 }),
         FIELDS({ "family", "string", "", 0 },
                { "encoding", "string", "", 0 },
                { "factor", "number", "", 0 },
                { "exact", "boolean", "", 0 },
                { "error", "number", "the maximum error, as a share", 0 },
                { "perMessage", "count", "tokens around a message", 0 },
                { "perReply", "count", "the beginning of the reply", 0 },
                { "families", "array", "[{family, encoding, factor, error, exact, models}]", 0 })),

    PURE("tools.project", tools_project,
         "Which tools to show, by phase, permission, environment and budget.",
         FIELDS({ "tools", "array", "[{name, category, priority, requiredPermissions, parameters}]", 1 },
                { "runtime", "object", "{phase, permissions, environment}", 1 },
                { "task", "object", "{urgency} or {deadline}", 0 },
                { "productionEnums", "object", "{tool: {argument: [values]}}", 0 },
                NOW),
         FIELDS({ "tools", "array", "those shown", 1 },
                { "leftOut", "array", "[{name, reason}]", 1 })),

    PURE("window.guard", window_guard,
         "Is a context window too small?",
         FIELDS({ "tokens", "number", "the window", 1 }),
         FIELDS({ "warn", "boolean", "under 32,000", 1 },
                { "reject", "boolean", "under 16,000", 1 })),

    PURE("window.resolve", window_resolve,
         "The context window: model, else configuration, else agent, else 200,000.",
         FIELDS({ "model", "number", "what the provider says", 0 },
                { "modelId", "string", "looked up in the table", 0 },
                { "config", "number", "", 0 },
                { "agentDefault", "number", "", 0 }),
         FIELDS({ "tokens", "number", "", 1 })),
};
/* clang-format on */

const size_t maki_op_table_count = sizeof maki_op_table / sizeof maki_op_table[0];
