/* vocabulary.S -- the tables that make_tables wrote, as read-only data. */
    .section .rodata
    .macro table name, file
    .balign 64
    .globl \name
    .hidden \name
    .type \name, %object
\name:
    .incbin "token/\file"
    .size \name, . - \name
    .endm

    table maki_table_o200k, "o200k_base.bin"
    table maki_table_cl100k, "cl100k_base.bin"
    table maki_table_claude, "claude.bin"

    .section .note.GNU-stack, "", %progbits
