#include <stdio.h>

int main(void) {
    puts("forage " FORAGE_VERSION);
    return 0;
}
