/* conversation.c -- a conversation from C: append, condense, write a request, rewind.
 *
 *     cc conversation.c $(pkg-config --cflags --libs maki) -o conversation && ./conversation talk.jsonl */
#include <maki/maki.h>

#include <stdio.h>
#include <stdlib.h>

static const char *const messages[] = {
    "{\"role\":\"user\",\"content\":\"巻き寿司の具は何ですか？\"}",
    "{\"role\":\"assistant\",\"content\":\"まぐろときゅうりです。 🍣\"}",
    "{\"role\":\"user\",\"content\":\"나무젓가락은요?\"}",
    "{\"role\":\"assistant\",\"content\":\"네, 드릴게요.\"}",
    "{\"role\":\"user\",\"content\":\"谢谢！\"}",
    "{\"role\":\"assistant\",\"content\":\"不客气。\"}",
    "{\"role\":\"user\",\"content\":\"And some tea, please.\"}",
};

/* A sink: where an answer goes, piece by piece. */
static maki_status print(void *out, maki_str bytes, maki_err *err)
{
    (void)err;
    return fwrite(bytes.ptr, 1, bytes.len, out) == bytes.len ? MAKI_OK : MAKI_IO;
}

static void check(const char *action, maki_status status, const maki_err *err)
{
    if (status == MAKI_OK) return;
    maki_perror(action, err);
    exit(maki_status_exit(status));
}

/* Run an operation; `fields` are those of its input after the conversation. */
static void run(maki *m, const char *name, const char *path, const char *fields)
{
    char input[4096];
    maki_err err;
    snprintf(input, sizeof input, "{\"conversation\":\"%s\"%s}", path, fields);
    printf("%s ", name);
    check(name, maki_op(m, maki_str_of(name), maki_str_of(input), (maki_sink){ print, stdout }, &err), &err);
    printf("\n");
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "talk.jsonl";
    maki_conversation *talk = NULL;
    maki *m = NULL;
    maki_err err;
    uint64_t seq;

    check("open", maki_open(NULL, &m, &err), &err);
    check(path, maki_conversation_open(m, path, MAKI_OPEN_CREATE, &talk, &err), &err);
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        check("append", maki_conversation_append(talk, maki_str_of(messages[i]), &seq, &err), &err);
    maki_conversation_close(talk);

    /* With a summary of your own; without `summarizer` Maki writes one. */
    run(m, "history.condense", path,
        ",\"keepCount\":3,\"summarizer\":{\"chunks\":[\"Sushi with tuna; chopsticks come.\"],\"cost\":0}");
    run(m, "request.build", path, ",\"protocol\":\"anthropic\",\"model\":\"claude-sonnet-5-5\",\"maxTokens\":4096");
    run(m, "history.rewind", path, ",\"seq\":4");
    maki_close(m);
    return 0;
}
