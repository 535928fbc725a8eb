#include "retrieval/question/office_words.h"

#include <string.h>
#include <strings.h>

#include "kernels/words.h"
#include "retrieval/text/word_tokens.h"

/* Phrases are divided by ", ", their words by blanks, and words of which any may stand in a place by "|"; apostrophes and hyphens
 * are no words of their own: "doctor s note". "=gp": in these letters. What stands behind a phrase is part of none: "$by": the end, a sign or
 * this word; "!blind|#": neither this word nor a number. */
typedef struct pair {
    const char *asked, *written;
    const char *said; /* takes the place of the question's phrase; NULL: what the passage has */
    /* Words of which the question has to say one. A phrase that means other things too is here with what makes it one of these,
     * or not at all ("flat", "job", "drop off"). */
    const char *beside;
    /* Phrases in a sentence with one of `beside`, or anywhere without one, that say what is asked, too. */
    const char *kept;
} pair;

/* clang-format off */
#define ANIMALS "dog dogs puppy cat cats kitten pet pets animal animals horse horses rabbit rabbits hamster"
#define HANDED_OVER "parcel parcels package letter order goods key keys card passport book books"
#define PAPERS "form forms paper papers report reports homework application applications return returns claim claims essay thesis"
#define FOLDERS "file files make new empty copy move list delete remove rename search find owner owns permission permissions size space link links compare sync create hidden exclude skip command program path disk count directory directories subdirectory"
#define NO_FEAST "christmas, xmas, boxing day, new year|years"
static const pair pairs[] = {
    /* work and health */
    {"sick note, sick notes, sicknote, doctor s note, doctors note, note from my|the|a doctor",
     "doctor|doctors|physician s certificate, doctors certificate, medical certificate, certificate of incapacity", NULL, NULL, NULL},
    {"my|our|your|their boss|bosses", "line manager, supervisor, manager", NULL, NULL, NULL},
    {"boss, bosses", "line manager, supervisor, manager", NULL, "work job leave holiday sick ill employee employees staff office", NULL},
    {"days|day of holiday|vacation|holidays, days holiday|vacation, holiday days, vacation days",
     "days of annual leave, annual leave, days of leave, leave days", "days of annual leave", "get have many entitled", NULL},
    {"get|got|be|been|being|gets|getting fired|sacked", "dismissed, dismissal", "be dismissed", NULL, NULL},
    {"pay rise, pay raise, salary raise", "salary increase, pay increase, wage increase, increase in pay|salary", NULL, NULL, NULL},
    {"jab, jabs", "vaccination, vaccinations, inoculation", NULL,
     "get need needs have had flu covid travel tetanus child children baby " ANIMALS, NULL},
    {"my|our|your gp, a|the =gp", "family doctor, general practitioner", NULL, NULL, NULL},
    {"a|the gp", "family doctor, general practitioner", NULL, "ill doctor see appointment", NULL},
    {"cell phone, cellphone, cell number, cell", "mobile", "mobile", "number phone cellphone telephone call ring reach s", NULL},
    {"tummy", "stomach, abdomen", NULL, NULL, NULL},
    {"throw|throws|threw up, throwing|thrown up", "vomit, vomits, vomited, vomiting", "vomit", NULL, NULL},
    /* animals */
    {"poo, poop, poos", "droppings, faeces, feces, excrement, dog waste", NULL, NULL, NULL},
    {"the|a|its lead, off lead", "leash", "a leash", "dog dogs puppy", NULL},
    {"a|the|my|our|your vet", "veterinarian, veterinary surgeon", NULL, NULL, NULL},
    {"vet, vets", "veterinarian, veterinary surgeon, veterinary", NULL, ANIMALS, NULL},
    /* house, street */
    {"cut|cutting|chop|chopping down, chopped down", "felled, felling, to fell", "fell", "tree trees", "cut|cuts|cutting"},
    {"rubbish, trash, garbage", "the|household refuse, refuse collection|bin|bins|sack|sacks|is", "refuse", NULL, NULL},
    {"rubbish, trash, garbage", "the|household|residual waste, waste collection|bin|bins|sack|sacks|is", "waste", NULL, NULL},
    {"power cut, power cuts", "power failure, power outage, blackout !curtain|curtains|blind|blinds", NULL, NULL, NULL},
    {"blackout !curtain|curtains|blind|blinds|date|dates|day|days|period|periods, power outage, power failure",
     "power cut, power outage, power failure, power cuts", NULL, NULL, NULL},
    {"telly, tv", "television, television set", NULL, NULL, NULL},
    {"=hoover", "vacuum cleaner", NULL, NULL, NULL},
    {"stroller, strollers", "pushchair, pushchairs, pram, prams", NULL, NULL, NULL},
    {"pushchair, pushchairs", "stroller, strollers, pram, prams", NULL, NULL, NULL},
    {"parking lot", "car park", NULL, NULL, NULL}, {"car park", "parking lot", NULL, NULL, NULL},
    {"driver|drivers license, driver s license|licence", "driving licence, driving license", NULL, NULL, NULL},
    {"driving licence|license", "driver s license|licence, drivers license", NULL, NULL, NULL},
    {"license|licence plate", "number plate, registration plate", NULL, NULL, NULL},
    {"number plate", "license|licence plate, registration plate", NULL, NULL, NULL},
    {"gas station", "petrol station, filling station", NULL, NULL, NULL},
    {"petrol station", "gas station, filling station", NULL, NULL, NULL},
    {"drugstore, chemist s", "pharmacy", NULL, NULL, NULL}, {"pharmacy", "drugstore, chemist s", NULL, NULL, NULL},
    {"move|moving out of, moved out of", "vacate, vacated, vacating", "vacate", "flat apartment house room home plot office premises", NULL},
    {"landlord, landlady", "lessor", NULL, NULL, NULL}, {"renter, renters", "tenant, tenants, lessee", NULL, NULL, NULL},
    /* of guests, and no luggage */
    {"check|checking in $on|before|after|by", "guests|you|visitors arrive, arrival is|from|between|on", "arrive", NULL, "check|checked|checking in"},
    {"check|checking out $on|before|after|by", "guests|you|visitors leave, arrive and leave, departure is|from|by|on", "leave", NULL, "check|checked|checking out"},
    {"i|we smell|see smoke, it smells of|like smoke", "a|the fire, fire alarm, of fire, fire breaks", "there is a fire", NULL,
     "smell|smells|smelling|see|sees|seeing smoke, smell|smells|smelling of smoke"},
    {"a|the break in $", "burglary", "a burglary", NULL, NULL},
    {"=cop, =cops", "police", NULL, NULL, NULL},
    {"baby, babies", "infant, infants", NULL, NULL, NULL}, {"infant, infants", "baby, babies", NULL, NULL, NULL},
    {"a|the grown up, grown ups, grownup, grownups", "adult, adults", NULL, NULL, NULL},
    {"elderly|old people, old age pensioners, oaps", "senior citizens, seniors, pensioners", NULL, NULL, NULL},
    /* papers */
    {"over|on|via the internet, through the internet", "online", "online", NULL, NULL},
    {"send|sending|hand|handing|turn|turning in !hand|#, sent|handed|turned in $by|before|within", "submit, submitted, submission", "submit",
     PAPERS, NULL},
    {"send|hand|turn in my|our|the|a tax return",
     "file a|the|your|their return, file a|the|your|their tax return, return|returns is|are filed, returns must|may|can be filed",
     "file the tax return", NULL, NULL},
    {"fill|filled|filling in|out", "complete the|a|this|your|it|all, completed, completing", "complete", "form forms questionnaire", NULL},
    {"sign|signed|signing up",
     "to|must|can|may register, register by|at|online|for|with, registered, registration, enrol, enroll, enrolment, enrollment", "register",
     NULL, NULL},
    {"get|gets|got|getting rid of, throw|throws|threw|throwing away, chuck away|out", "dispose, disposed, disposal", "dispose of", NULL, NULL},
    {"call|called|calling off", "cancel, cancelled, canceled, cancellation", "cancel", NULL, NULL},
    {"get|getting out of", "cancel, cancelled, terminate, terminated", "terminate", "contract lease subscription agreement tenancy", NULL},
    {"give|giving up", "terminate, terminated, termination, resign, resignation", NULL, "membership lease tenancy allotment", NULL},
    {"give|giving up $my|our|your", "terminate, terminated, termination", NULL, "plot", NULL},
    {"put|putting off", "postpone, postponed, defer, deferred", "postpone",
     "meeting exam appointment payment payments start holiday leave trip event date delivery test", NULL},
    {"worked out", "calculated", "calculated",
     "fee fees dues rent price prices charge charges cost costs tax pay salary bill grade interest contribution bonus pension", NULL},
    {"pick|picked|picking up", "collect, collected, collection", "collect", HANDED_OVER " ticket tickets", NULL},
    {"collect !from|for, be collected", "pick up, picked up", "pick up", HANDED_OVER, NULL},
    {"bring|give|send|take back", "return !ticket|tickets|trip|journey|fare|flight, returned, returning", "return",
     HANDED_OVER " item items purchase tool tools borrowed bottle bottles", NULL},
    {"my|our|the|your money back", "refund, refunds, refunded", "a refund", NULL, NULL},
    {"pay back, paying|paid back", "repay, repaid, repayment", "repay", NULL, NULL},
    {"kicked out", "expelled, evicted, expel, evict", "expelled", NULL, NULL},
    {"thrown out", "expelled, evicted, expel, evict", "expelled", "i we you they member members pupil pupils student students tenant tenants", NULL},
    {"id card, photo id, proof of id, an|my id", "identity card, identity document, proof of identity", NULL, NULL, NULL},
    {"agm", "annual general meeting, general meeting", NULL, NULL, NULL},
    {"cv, a|my|your|the resume", "curriculum vitae", NULL, NULL, NULL},
    {"for free|nothing", "free of charge", "free of charge", NULL, NULL},
    /* money */
    {"my|our|your own money", "own contribution, own funds", NULL, NULL, NULL},
    {"yearly|annual|membership fee, yearly|annual membership fee", "annual dues, membership dues", NULL, NULL, NULL},
    {"pay|paying myself|ourselves, pay out of my|our own pocket", "excess per, the excess, excess is, deductible", "pay as excess", NULL, NULL},
    {"take|taking out money|cash, get money|cash out", "withdraw, withdrawal, withdrawals", "withdraw money", NULL, NULL},
    {"atm, atms, cashpoint", "cash machine, cash machines", NULL, NULL, NULL},
    {"cash machine, cash machines, cashpoint", "atm, atms", NULL, NULL, NULL},
    {"go|goes|going up", "rise, rises, increase, increases, increased", "rise", "rent rents fee fees price prices pay salary salaries", NULL},
    /* programs */
    {"file type|types, type|types|kind|kinds of file|files", "format, formats", "file formats", NULL, NULL},
    {"hidden files|file, dotfiles, dot files", "entries|files|names starting with, begin|begins|beginning|start|starts with a dot|period", "entries starting with .", NULL, NULL},
    {"folder|directory|folders|directories with|and everything|all in|inside|below|under it|them, folder|directory with all that is in|inside it, "
     "folder|directory and|with all its|the contents|files|subfolders|subdirectories, whole|entire|complete folder|directory|folders|directories|tree",
     "recursively, recursive", "directories recursively", NULL, "whole|entire|complete folder|directory|tree"},
    {"everything below|under|inside|beneath|in a|the|this|my folder|directory|tree, all files below|under|inside|beneath a|the|this|my folder|directory|tree, "
     "including|with|and|all|every|its subfolders|subdirectories|subfolder|subdirectory, in subfolders|subdirectories",
     "recursively, recursive", "files and directories recursively", NULL, NULL},
    {"subfolder, subfolders", "subdirectory, subdirectories", NULL, NULL, NULL},
    {"folder", "directory, directories", "directory", FOLDERS, NULL}, {"folders", "directories, directory", "directories", FOLDERS, NULL},
    {"unpack|unpacking|untar|unzip|unzipping", "extract files|members|from|the|an|all|archive, extracts", "extract", "tar archive archives deb rpm jar cpio", NULL},
    {"unpack|unpacking|unzip|unzipping|uncompress|uncompressing", "decompress|decompresses|decompressing|decompressed, uncompress|uncompresses|uncompressed, expand|expands compressed", "decompress",
     NULL, NULL},
    {"changed|modified|edited|touched in|within|during|over the last|past day|week|month|year|hour, changed|modified|edited|touched in|within|during|over the last|past # days|weeks|months|years|hours|minutes, changed|modified|edited|touched today|yesterday|recently|lately, changed|modified|edited|touched less|more than # days|hours|minutes",
     "last modified|changed", "last modified n days ago", "file files folder folders directory directories", NULL},
    {"larger|bigger|greater|smaller than # gb|mb|kb|gib|mib|kib|megabytes|gigabytes|kilobytes|bytes|megabyte|gigabyte, larger|bigger|greater|smaller than #",
     "units of space", "of size n units of space", "find search", NULL},
    {"hidden|invisible|unprintable|control characters", "nonprinting, non printing", "nonprinting characters", NULL, NULL},
    {"keep|keeping|retain|retaining", "preserve|preserves|preserving", "preserve", "timestamps timestamp dates permissions ownership owner attributes mode times", NULL},
    {"reverse|reversing the|all|its lines|order", "in reverse !video", "print in reverse the lines", "file files text", NULL},
    {"every # seconds|minutes|second|minute, every second|minute|few|couple, again and again, over and over, repeatedly", "periodically, regular intervals", "periodically",
     "command commands program script run runs execute", NULL},
    {"when|after|once i log|logged out|off, after logging out|off, when|after i close|closed the|my terminal|session|window, after|when i disconnect",
     "immune to hangups, hangup|hangups", "immune to hangups", NULL, NULL},
    {"turn|turning|switch|switching off the|my|this|a computer|machine|pc|system|server, shut|shutting down the|my|this|a computer|machine|pc|system|server",
     "power off|down, poweroff, halt the, shut down", "power off the machine", NULL, NULL},
    {"how full is|are, how much space|room is, how much disk|free space, disk space left|free|available|remaining, free|available|remaining|unused disk space, disk space is left|free|available, free|empty|unused|available space on|of|in", "file system|systems space|disk, space available|usage",
     "report file system space usage", "disk disks drive drives partition partitions", NULL},
    {"logged in", "logged on", NULL, NULL, NULL}, {"logged on", "logged in", NULL, NULL, NULL},
    {"time zone, time zones", "timezone, timezones", NULL, NULL, NULL}, {"timezone, timezones", "time zone, time zones", NULL, NULL, NULL},
    {"show|shows|see|tell me|us what it would|will do, what it would do, what would happen, without actually|really doing|copying|deleting|removing|changing|moving it|anything|them, "
     "preview of what it does, only|just pretend|pretending, without running|executing|performing|applying it|anything|them|that",
     "dry run, trial run, simulate|simulates|simulation", "dry run", NULL, "would have been done, would be done|deleted|removed|copied|transferred|changed"},
    {"without asking|prompting me|us, without asking|prompting, don t ask|prompt me|us, not ask|prompt me|us, stop asking|prompting me|us, stop|keep from asking|prompting",
     "never prompt|ask, do not prompt|ask, without prompting|confirmation, no confirmation, non interactive", "never prompt", NULL, "without asking"},
    {"upper or|and lower case alike, upper or|and lowercase alike, no matter upper|whether upper or lower case, whatever the case, capital|upper case or not, "
     "regardless of upper|capital|case, regardless of case",
     "ignore case, case insensitive|insensitively, case distinctions", "ignore case distinctions", NULL, NULL},
    {"lines that|which don t contain|have|match|hold|mention|say, lines that|which do not contain|have|match|hold|mention|say, lines not containing|matching, lines without", "non matching lines, invert match, invert the sense",
     "non-matching lines", NULL, NULL},
    {"duplicate|double|doubled lines|entries, same line twice", "repeated lines, unique lines, adjacent matching lines", "repeated lines", NULL, NULL},
    {"the other way round|around, back to front, last line|lines first, upside down", "reverse order|the, in reverse", "reverse order",
     "sort list lists line lines order file files output show print", NULL},
    {"biggest|largest first, biggest|largest files|ones at the top", "sort by file|size, largest first", "sort by size, largest first", NULL, NULL},
    {"newest|latest|youngest first, newest|latest files|ones at the top", "newest first, sort by time|modification|date", "sort by time, newest first", NULL, NULL},
    {"how big|large a|the|my|this|each|every folder|directory, how big|large folders|directories, size of a|the|my|this|each|every folder|directory, size of folders|directories, "
     "how much space|room a|the|my|this|each|every folder|directory",
     "disk usage, space usage, disk space used", "disk usage of a directory", NULL, NULL},
    {"interrupted|broken|aborted|cancelled download|downloads|transfer|transfers|upload|uploads, download|transfer|upload that|which broke|stopped|was",
     "partially downloaded|transferred|uploaded, partial files|transfer|transfers", "partially downloaded file", NULL, NULL},
    {"throttle|throttling, limit|cap|reduce the speed, limit|restrict how fast, slow it|the down", "limit rate|the, bwlimit, rate limit|limiting|limits, bandwidth limit|used",
     "limit the rate of", "download downloads downloading upload uploads uploading transfer transfers copy copying network bandwidth backup", NULL},
    {"bastion host|server, bastion, through|via another host|machine|server, through|via a jump host|server", "jump host|hosts, proxyjump, jump proxy", "by a jump host",
     "ssh scp sftp rsync connect connection log login", NULL},
    {"without a|my|the|typing|entering password, without password|passwords, passwordless", "public key authentication, public keys, authorized keys", "by public key authentication",
     "ssh scp sftp rsync", NULL},
    {"by|on the|a|its first|second|third|fourth|fifth|last|2nd|3rd|4th|certain|given column|field, by|on first|second|third|fourth|fifth|last column|field, by|on column|field #",
     "via a key, sort key|keys, key field|fields", "via a key", "sort sorts sorted sorting order", NULL},
    {"ports|port are|is open, open ports|port, ports|port in use, ports|port are|is in use|used|taken, listens|listening on a|which|port|ports", "listening sockets, listening sockets|ports",
     "listening sockets", "show see list which what find check", NULL},
    {"undo|undoing, take|taking|roll|rolling back", "revert|reverts|reverting", "revert", "commit commits", NULL},
    {"running process|program, process|program that|which runs, process|program that|which is|already running|runs, process|program that|which is already running",
     "process with the process|pid, process id|ids", "attach to the process with the process ID", "trace tracing attach debug debugger profile calls", NULL},
    {"logs|log of|for|from a|one|the|my|this single|service|daemon|unit, service|daemon s|logs|log, what a|the|my service|daemon logged|logs|wrote",
     "messages for the specified|unit, journal entries|messages", "messages of the journal for the specified unit", "service daemon unit", NULL},
    {"older|newer|younger than # day|days|week|weeks|month|months|year|years|hours|minutes, older|newer|younger than a|one day|week|month|year",
     "last modified less|more|n, last modified|changed", "last modified more than n*24 hours ago", "file files folder folders directory directories", NULL},
    {"impossible to delete|remove|change, from|against being deleted|removed|changed|overwritten, from|against deletion",
     "cannot be deleted|modified|removed, immutable", "immutable, cannot be deleted", "file files folder directory protect", NULL},
    {"shuffle|shuffling, randomize|randomise|randomizing|randomising, in a|random order, in|into a random order, mix|mixing up the", "random permutation|permutations", "random permutation",
     "line lines list file files words entries", NULL},
    {"without listing|showing|printing the|its|each|all subfolders|subdirectories|folders|directories|files, only|just the total|sum",
     "only a total, only the total", "only a total", "size sizes space usage disk", NULL},
    {"only|just once at a|the time, only|just one instance|copy, more than one instance|copy, twice at once|a|the, more than once at a|the, never twice, not run|start|runs twice|parallel",
     "lock|locks", "a lock", "script command program job cron process runs", NULL},
    {"to|on|onto|from a|the|my|another|other server|computer|machine, to|on|onto|from another|a|the different|other|remote server|computer|machine",
     "remote machine|host|hosts|server|servers|system, other host|machine", "remote host", "ssh scp sftp rsync key keys copy copying", NULL},
    {"permissions|rights of|on a|the|my|this|all file|files|folder|directory|script, access rights", "file mode|modes, mode bits", "file mode bits", NULL, NULL},
    {"my ip, my|own ip address|addresses, ip address|addresses of my|this|the machine|computer|server", "network interface|interfaces, protocol address|addresses", "network interface addresses",
     NULL, NULL},
    {"symlink, symlinks, soft link, soft links", "symbolic link, symbolic links", "symbolic link", NULL, NULL},
    {"symbolic link, symbolic links", "symlink, symlinks", "symlink", NULL, NULL},
    {"env var|variable, env vars|variables", "environment variable, environment variables", "environment variable", NULL, NULL},
    {"config|conf|settings file, config|conf|settings files", "configuration file, configuration files", "configuration file", NULL, NULL},
    {"when|whenever the computer|machine|pc|server|system|box starts|boots|restarts|reboots, after a|each|every reboot|restart, at|on every boot, at|on boot",
     "at|on boot, at boot time, at system startup|boot, on startup, at startup", "at boot", NULL, NULL},
    {"if i|you don t say|set|give|specify|change|configure anything, if i|you do not say|set|give|specify|change|configure anything, unless told otherwise, unless i say otherwise, out of the box",
     "default, defaults", "by default", NULL, NULL},
    /* days: whoever writes of one of these feasts by its name may have said what is so on the others */
    {"on christmas|xmas day, on christmas, at christmas|xmas", "25 december, december 25, 25 and 26 december", "on 25 December", NULL, NO_FEAST},
    {"christmas day", "25 december, december 25, 25 and 26 december", "25 December", NULL, NO_FEAST},
    {"on christmas|xmas|boxing day, on new years day, on new year s day", "public holiday, public holidays, bank holidays", "on a public holiday", NULL,
     NO_FEAST},
    {"christmas eve", "24 december, december 24, 24 and 31 december", "24 December", NULL, NO_FEAST},
    {"boxing day", "26 december, december 26", "26 December", NULL, NO_FEAST},
    {"new year s eve", "31 december, december 31", "31 December", NULL, NO_FEAST},
    {"new year s day", "1 january, january 1", "1 January", NULL, NO_FEAST},
    {"bank holiday, bank holidays", "public holiday, public holidays", NULL, NULL, NULL},
    {"public holiday, public holidays", "bank holiday, bank holidays", NULL, NULL, NULL},
};
/* clang-format on */
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* The next word or number at or behind *at: signs are passed over, but those that part clauses are not. */
static word_token next_word(const char *s, size_t len, size_t *at) {
    word_token t = word_token_next(s, len, at);
    while (t.n && !t.letters && !t.digits && !strchr(",.;:?!|", t.s[0]))
        t = word_token_next(s, len, at);
    return t;
}

/* Bytes of a word without what its number or form ends in: "strollers", "cutting"; nothing is left of none. */
static size_t without_ending(const char *s, size_t n) {
    static const struct {
        const char *s;
        size_t n, least; /* of letters before it */
    } endings[] = {{"ing", 3, 3}, {"ed", 2, 3}, {"es", 2, 3}, {"s", 1, 2}};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n >= endings[i].n + endings[i].least &&
            !strncasecmp(s + n - endings[i].n, endings[i].s, endings[i].n)) {
            n -= endings[i].n;
            break;
        }
    return n > 2 && (s[n - 1] == 'e' || s[n - 1] == 'E') ? n - 1 : n;
}

/* Is t the word w[n] of a pattern? any_form: or another number or form of it. */
static bool is_word(const char *w, size_t n, const word_token *t, bool any_form) {
    if (n == 1 && *w == '#') return t->digits;
    if (*w == '=' && !any_form) return n - 1 == t->n && !memcmp(w + 1, t->s, t->n);
    if (*w == '=') w++, n--;
    if (n == t->n && !strncasecmp(w, t->s, n)) return true;
    const size_t bare = without_ending(w, n);
    return any_form && bare == without_ending(t->s, t->n) && !strncasecmp(w, t->s, bare);
}

/* Is t one of the words at *pattern, which moves behind them? */
static bool fits(const char **pattern, const word_token *t, bool any_form) {
    bool fit = false;
    while (**pattern && **pattern != ' ' && **pattern != ',') {
        const size_t n = strcspn(*pattern, "| ,");
        fit |= n && is_word(*pattern, n, t, any_form);
        *pattern += n + ((*pattern)[n] == '|');
    }
    return fit;
}

/* May `next` stand behind a phrase of which `pattern` says what does: "$by", "!blind"? */
static bool may_follow(const char *pattern, const word_token *next) {
    const bool without = *pattern == '!', ends = !next->n || (!next->letters && !next->digits);
    pattern++;
    return (!without && ends) || fits(&pattern, next, false) != without;
}

/* Bytes from `from` on, where a word begins, that say the phrase at `pattern`; 0: others. */
static size_t phrase_at(const char *pattern, const char *s, size_t len, size_t from,
                        bool any_form) {
    size_t at = from;
    for (;;) {
        const word_token t = next_word(s, len, &at);
        if (!t.n || !fits(&pattern, &t, any_form)) return 0;
        if (*pattern != ' ') return at - from;
        pattern++;
        if (*pattern == '$' || *pattern == '!') {
            size_t behind = at;
            const word_token next = next_word(s, len, &behind);
            return may_follow(pattern, &next) ? at - from : 0;
        }
    }
}

/* A stretch of a text; no bytes: none. */
typedef struct stretch {
    size_t start, len;
} stretch;

/* May t begin the phrase at `pattern`? By the first letters alone, which every form of a word shares: most phrases end here. */
static bool may_begin(const char *pattern, const word_token *t) {
    for (;;) {
        if (*pattern == '=') pattern++;
        if (*pattern == '#' ? t->digits : (*pattern | 0x20) == (*t->s | 0x20)) return true;
        pattern += strcspn(pattern, "| ,");
        if (*pattern++ != '|') return false;
    }
}

/* Where a text says one of the phrases, from byte `at` on; *which: that one. */
static stretch find(const char *phrases, const char *s, size_t len, size_t at, bool any_form,
                    const char **which) {
    for (;;) {
        const word_token t = next_word(s, len, &at);
        if (!t.n) return (stretch){0};
        const size_t from = (size_t)(t.s - s);
        for (const char *p = phrases; p; p = strchr(p, ',')) {
            p += *p == ',' ? 2 : 0;
            const size_t n = may_begin(p, &t) ? phrase_at(p, s, len, from, any_form) : 0;
            if (n) {
                *which = p;
                return (stretch){from, n};
            }
        }
    }
}

/* Does a sentence of the text say one of the phrases and one of the words? */
static bool says_both(const char *phrases, const char *words, const char *s, size_t len) {
    static const char ends[] = ".!?\n";
    const char *which;
    stretch at;
    for (size_t from = 0; (at = find(phrases, s, len, from, false, &which)).len;
         from = at.start + at.len) {
        size_t start = at.start, end = at.start + at.len;
        while (start > 0 && !strchr(ends, s[start - 1])) start--;
        while (end < len && !strchr(ends, s[end])) end++;
        if (word_tokens_say(words, s + start, end - start)) return true;
    }
    return false;
}

/* Does a passage say, in words of the pair's own, what is asked? Of a feast any of them is enough. */
static bool is_kept(const pair *p, const passage *passages, size_t n) {
    const char *which;
    for (size_t i = 0; p->kept && !p->beside && i < n; i++)
        if (find(p->kept, passages[i].text, passages[i].len, 0, false, &which).len) return true;
    return false;
}

/* The phrase without "a", "the" or "my", which the passages need not say. */
static const char *bare_phrase(const char *asked) {
    const size_t first = strcspn(asked, "| ,"), word = strcspn(asked, " ,");
    return asked[word] == ' ' && fo_words_have_any_case("a an the my our your", asked, first)
               ? asked + word + 1
               : asked;
}

/* What the first passage that says it, or says what was asked, has of it. */
static bool written_as(const pair *p, const char *asked, const passage *passages, size_t n,
                       const char **text, stretch *found) {
    char phrase[128];
    if (!p->beside) asked = bare_phrase(asked);
    const size_t n_asked = strcspn(asked, ",");
    if (n_asked >= sizeof phrase || is_kept(p, passages, n)) return false;
    memcpy(phrase, asked, n_asked);
    phrase[n_asked] = '\0';
    for (size_t i = 0; i < n; i++) {
        const char *which, *s = passages[i].text;
        const size_t len = passages[i].len;
        if (find(phrase, s, len, 0, true, &which).len ||
            (p->kept && p->beside && says_both(p->kept, p->beside, s, len)))
            return false;
        *found = find(p->written, s, len, 0, false, &which);
        *text = s;
        if (found->len) return true;
    }
    return false;
}

/* Where the question says one of the pair's phrases, beside what it has to say, too; *asked: that one. */
static stretch asked_in(const pair *p, const char *question, size_t len, const char **asked) {
    const stretch at = find(p->asked, question, len, 0, false, asked);
    if (at.len && p->beside && !word_tokens_say(p->beside, question, len)) return (stretch){0};
    return at;
}

/* Puts one phrase; false: it is not in the question, or not to be changed. */
static bool put(fo_buf *out, const pair *p, const char *question, const passage *passages,
                size_t n) {
    const size_t len = strlen(question);
    const char *asked, *text;
    const stretch at = asked_in(p, question, len, &asked);
    stretch found;
    if (!at.len || !written_as(p, asked, passages, n, &text, &found)) return false;
    fo_buf_add(out, question, at.start);
    if (p->said)
        fo_buf_str(out, p->said);
    else
        fo_buf_add(out, text + found.start, found.len);
    fo_buf_str(out, question + at.start + at.len);
    return true;
}

bool office_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n) {
    bool changed = false;
    for (size_t i = 0; i < PAIRS && !out->failed; i++) {
        fo_buf next = {0};
        if (put(&next, &pairs[i], changed ? out->data : question, passages, n) && !next.failed) {
            fo_buf_free(out);
            *out = next;
            changed = true;
        } else {
            out->failed |= next.failed;
            fo_buf_free(&next);
        }
    }
    return changed && !out->failed;
}

bool office_words_to_search(fo_buf *out, const char *question) {
    const size_t len = strlen(question);
    const char *asked;
    for (size_t i = 0; i < PAIRS; i++) {
        const pair *p = &pairs[i];
        if (!p->said || !asked_in(p, question, len, &asked).len) continue;
        if (!out->len) fo_buf_add(out, question, len);
        fo_buf_char(out, ' ');
        fo_buf_str(out, p->said);
    }
    return out->len > 0 && !out->failed;
}
