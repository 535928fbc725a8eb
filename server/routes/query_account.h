/* query_account.h - what an answered question leaves behind: a row of the query log, metrics of its stages
 * and of the cache layers, tokens charged to who asked. Every door that asks service_query for somebody
 * comes by here, so that analytics do not depend on the door. */
#ifndef FORAGE_SERVER_QUERY_ACCOUNT_H
#define FORAGE_SERVER_QUERY_ACCOUNT_H

#include "server/routes/app.h"

/* q: as service_query had it, with the tenant; nothing of it or of *result is kept. Never waits. */
void query_account(app *a, http_request *r, const query_request *q, const query_result *result);
/* service_query gave an error: what the model took until then is charged, so that who leaves before the end does
 * not ask for nothing. */
void query_account_failed(http_request *r, const query_result *result);
/* The same as query_account where the tokens were charged already. */
void query_account_charged(app *a, http_request *r, const query_request *q,
                           const query_result *result);

#endif
