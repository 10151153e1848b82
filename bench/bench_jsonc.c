/* bench_jsonc.c -- the peer of bench_spans: parse each line of a log with json-c.
 *
 *     bench_jsonc FILE
 *
 * Rows and fields are counted, so that both programs can be seen to find the same. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

static uint64_t fields_of(struct json_tokener *tokener, const char *line, size_t n)
{
    json_tokener_reset(tokener);
    struct json_object *row = json_tokener_parse_ex(tokener, line, (int)n);
    if (!row) return UINT64_MAX;
    uint64_t fields = (uint64_t)json_object_object_length(row);
    json_object_put(row);
    return fields;
}

int main(int argc, char **argv)
{
    uint64_t rows = 0, fields = 0;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: bench_jsonc FILE\n");
        return 2;
    }
    FILE *file = fopen(argv[1], "rb");
    struct json_tokener *tokener = json_tokener_new();
    if (!file || !tokener) {
        perror(argv[1]);
        return 1;
    }
    setvbuf(file, NULL, _IOFBF, 1 << 18);
    while ((n = getline(&line, &capacity, file)) > 0) {
        uint64_t count = fields_of(tokener, line, (size_t)n);
        if (count == UINT64_MAX) {
            fprintf(stderr, "bench_jsonc: row %" PRIu64 " is not JSON\n", rows);
            return 1;
        }
        rows++;
        fields += count;
    }
    printf("{\"rows\":%" PRIu64 ",\"fields\":%" PRIu64 "}\n", rows, fields);
    json_tokener_free(tokener);
    free(line);
    fclose(file);
    return 0;
}
