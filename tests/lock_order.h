/* lock_order.h - the order in which mutexes are taken, as tests/lock_order.c saw and asserted it. */
#ifndef FORAGE_TESTS_LOCK_ORDER_H
#define FORAGE_TESTS_LOCK_ORDER_H

/* Each pair on standard output: which was taken while which was held, by the places where they are made. */
void lock_order_report(void);

#endif
