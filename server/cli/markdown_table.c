#include "server/cli/markdown_table.h"

#include <stdio.h>
#include <string.h>

#include "kernels/buf.h"
#include "server/base/printable.h"

void markdown_row(size_t n, const char *const *cells) {
    fo_buf line = {0}, cell = {0};
    fo_buf_char(&line, '|');
    for (size_t i = 0; i < n; i++) {
        fo_buf_clear(&cell);
        if (cells[i]) printable_add(&cell, cells[i], strlen(cells[i]), PRINTABLE_LINE);
        fo_buf_char(&line, ' ');
        for (size_t k = 0; k < cell.len; k++) {
            if (cell.data[k] == '|') fo_buf_char(&line, '\\');
            fo_buf_char(&line, cell.data[k]);
        }
        fo_buf_str(&line, " |");
    }
    puts(line.data ? line.data : "");
    fo_buf_free(&line);
    fo_buf_free(&cell);
}

void markdown_head(size_t n, const char *const *cells) {
    markdown_row(n, cells);
    putchar('|');
    for (size_t i = 0; i < n; i++) fputs(" --- |", stdout);
    putchar('\n');
}
