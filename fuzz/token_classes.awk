# token_classes.awk -- src/token/classes.txt as rows of C, for token_reference.c: { class, from, to }.
/^#/ || NF == 0 { next }
/^[a-z]/ { name = toupper($1); gsub("-", "_", name); next }
{
    for (i = 1; i <= NF; i++) {
        ends = split($i, range, "-")
        printf "{ %s, 0x%s, 0x%s },\n", name, range[1], range[ends]
    }
}
