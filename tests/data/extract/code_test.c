/* Source code is cut at its functions: each with its comment, under its name, on its line, whole in a chunk where it
 * fits, empty lines in it or not; and the text stays byte for byte as it was. */
#include "tests/test.h"

#include "data/chunk/chunk.h"
#include "data/extract/extract.h"

static void read_code(extracted *x, const char *name, const char *text) {
    fo_err err = {0};
    assert_ok(extract_text(x,
                           &(extract_request){.bytes = text,
                                              .n = strlen(text),
                                              .file_name = name,
                                              .max_text_bytes = 1 << 20},
                           &err),
              &err);
    assert_string_equal(x->format, "code");
    assert_string_equal(x->text, text);
}

/* "name@line|name@line|-@line": what the blocks are called and where they stand. */
static void check(const char *name, const char *text, const char *expected) {
    extracted x;
    char is[4096] = "";
    read_code(&x, name, text);
    for (size_t i = 0; i < x.n_blocks; i++) {
        const text_block *b = &x.blocks[i];
        const text_place *p = extracted_place(&x, b);
        assert_int_equal(b->kind, TEXT_CODE);
        assert_non_null(p);
        size_t n = strlen(is);
        snprintf(is + n, sizeof is - n, "%s%.*s@%u", n ? "|" : "", b->n_name ? (int)b->n_name : 1,
                 b->n_name ? x.text + b->start + b->name : "-", p->line);
    }
    if (strcmp(is, expected) != 0) fail_msg("%s: %s\n  instead of %s", name, is, expected);
    extracted_deinit(&x);
}

static void functions_have_their_names(void **state) {
    (void)state;
    check("a.c",
          "#include <a.h>\n\n/* Adds. */\nstatic int add(int a,\n               int b) {\n    int "
          "c = a;\n\n    return c + b; /* } */\n}\n"
          "struct pair {\n    int a, b;\n};\nint old(int x)\n{\n    return '{';\n}\n",
          "-@1|add@3|pair@10|old@13");
    check("a.cpp",
          "namespace fen {\nclass Heron : public Bird {\npublic:\n    Heron() {}\n    int nests() "
          "const\n    {\n        return n;\n\n    }\n};\n"
          "}\nint fen::Heron::count(int a) { return a; }\n",
          "fen@1|Heron@2|-@3|Heron@4|nests@5|-@10|fen::Heron::count@12");
    check("a.py",
          "import os\n\n@cached\ndef level(well):\n    \"\"\"Text:\n\ndef none():\n    \"\"\"\n    "
          "a = 1\n\n    return a\n\nclass Well(Base):\n    n = 3\n\n"
          "    async def read(self):\n        pass\n\nX = 1\n",
          "-@1|level@3|Well@13|read@16|-@19");
    check("a.js",
          "import x from 'x';\n// Sums.\nexport async function sum(a) {\n  return `${a} "
          "{`;\n}\nconst twice = (a) => {\n  return /[{]/.test(a);\n};\n",
          "-@1|sum@2|twice@6");
    check("a.go",
          "package a\n\ntype Well struct {\n\tid int\n}\n\nfunc (w *Well) Level(s string) int "
          "{\n\n\treturn 1\n}\n",
          "-@1|Well@3|Level@7");
    check("a.rs", "impl<'a> Pump<'a> {\n    fn run(&self) -> char {\n        '{'\n    }\n}\n",
          "Pump@1|run@2|-@5");
    check("a.sh",
          "set -e\n\n# Greets.\ngreet() {\n    echo \"it's ${1:-you}\"\n\n    return 0\n}\ngreet\n",
          "-@1|greet@3|-@9");
    check("a.rb", "class Well\n  def level\n    if a\n      1\n    end\n\n  end\nend\n",
          "Well@1|level@2|-@8");
    check("a.lua",
          "local M = {}\n-- Adds.\nfunction M.add(a)\n  if a then\n\n  end\nend\nreturn M\n",
          "-@1|M.add@2|-@8");
    check("a.sql",
          "-- The wells.\nCREATE TABLE IF NOT EXISTS wells (\n  id TEXT,\n\n  mm INT\n);\nINSERT "
          "INTO wells VALUES (';');\nCREATE VIEW deep AS SELECT 1;\n",
          "wells@1|deep@7");
    check("a.java",
          "class A {\n    @Override\n    public List<String> run(int a) throws E {\n        return "
          "null;\n    }\n}\n",
          "A@1|run@2|-@6");
    check("a.php", "<?php\nfunction help($a) {\n    return 'it'; // it's\n}\n", "-@1|help@2");
    check("a.R", "level <- function(x) {\n\n  mean(x)\n}\n", "level@1");
    check("a.pl", "use strict;\n\nsub level {\n    my %h = %{$_[0]};\n\n    return 1;\n}\n",
          "-@1|level@3");
}

static void what_nobody_knows_is_cut_at_empty_lines(void **state) {
    (void)state;
    check("a.toml", "[a]\nb = 1\n\n[c]\nd = 2\n", "-@1|-@4");
    check("a.c.gz", "int a(void) {\n\n    return 1;\n}\n", "a@1");
}

/* A function that fits stands in one chunk, and the chunk is called by it. */
static void short_functions_stay_whole(void **state) {
    (void)state;
    char text[20000] = "";
    for (int i = 0; i < 40; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n,
                 "/* Number %d of them. */\nint function_%d(int a) {\n    int b = a * %d;\n\n    "
                 "if (b > 3) {\n        b--;\n    }\n\n    return b;\n}\n\n",
                 i, i, i);
    }
    extracted x;
    read_code(&x, "many.c", text);
    chunk *chunks;
    size_t n_chunks;
    fo_err err = {0};
    chunk_options opt = {.max_tokens = 64, .overlap = 16};
    assert_ok(chunk_text(&chunks, &n_chunks, &x, &opt, &err), &err);
    assert_true(n_chunks > 10);
    for (size_t i = 0; i < n_chunks; i++) {
        const char *s = x.text + chunks[i].start;
        size_t n = chunks[i].end - chunks[i].start, opened = 0, closed = 0;
        for (size_t k = 0; k < n; k++) opened += s[k] == '{', closed += s[k] == '}';
        if (opened != closed || memcmp(s, "/* Number", 9) != 0 || s[n - 1] != '}')
            fail_msg("chunk %zu is a part of a function: %.*s", i, (int)n, s);
        char name[40];
        snprintf(name, sizeof name, "function_%d", atoi(s + 10));
        assert_int_equal(chunks[i].heading_end - chunks[i].heading_start, strlen(name));
        assert_memory_equal(x.text + chunks[i].heading_start, name, strlen(name));
    }
    free(chunks);
    extracted_deinit(&x);
}

/* One that is too long is cut where it has an empty line. */
static void long_functions_are_cut_at_empty_lines(void **state) {
    (void)state;
    char text[8000] = "int long_one(void) {\n";
    for (int i = 0; i < 12; i++)
        strcat(text, "    one = two + three;\n    four = five + six;\n    seven = eight;\n\n");
    strcat(text, "}\n");
    extracted x;
    read_code(&x, "long.c", text);
    assert_int_equal(x.n_blocks, 1);
    chunk *chunks;
    size_t n_chunks;
    fo_err err = {0};
    assert_ok(chunk_text(&chunks, &n_chunks, &x, &(chunk_options){.max_tokens = 40}, &err), &err);
    assert_true(n_chunks > 2);
    for (size_t i = 0; i < n_chunks; i++) {
        if (i) assert_memory_equal(x.text + chunks[i].start, "one", 3);
        assert_memory_equal(x.text + chunks[i].heading_start, "long_one", 8);
    }
    free(chunks);
    extracted_deinit(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_their_names),
        cmocka_unit_test(what_nobody_knows_is_cut_at_empty_lines),
        cmocka_unit_test(short_functions_stay_whole),
        cmocka_unit_test(long_functions_are_cut_at_empty_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
