/* forage-extract: the program that libforage starts to read PDF, Office files and the like, and archives, apart
 * from the process that opened the home (data/extract/extract_host.h). The program forage does this itself. */
#include <stdio.h>

#include "data/extract/extract_host.h"

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    fputs("forage-extract: libforage starts it to read documents; it does nothing by itself\n",
          stderr);
    return 2;
}
