/* page_files.S -- the files of web/, as read-only data. */
    .section .rodata
    .macro file name, path
    .globl \name
    .hidden \name
\name:
    .incbin "\path"
    .globl \name\()_end
    .hidden \name\()_end
\name\()_end:
    .byte 0
    .endm

    file maki_page_html, "index.html"
    file maki_page_css, "page.css"
    file maki_page_js, "page.js"

    .section .note.GNU-stack, "", %progbits
