/* Mail put together here: forms of one text, what is attached and what it is called, mailboxes; and calendars, which come
 * with it. */
#include "tests/data/extract/formats_here.h"

#include <time.h>

#include "kernels/buf.h"
#include "kernels/utf8.h"

static void mail_and_what_is_attached(void **state) {
    (void)state;
    read_one(
        "Received: by x\r\nMIME-Version: 1.0\r\nFrom: =?iso-8859-1?Q?Ren=E9_B=F6ll?= "
        "<r@example.org>\r\n"
        "To: crew\r\nSubject: =?UTF-8?B?w5ZsIQ==?=\r\n =?UTF-8?Q?_two?= cans\r\nContent-Type: "
        "multipart/mixed;\r\n boundary=\"--b 1\"\r\n\r\npreamble\r\n----b 1\r\nContent-Type: "
        "multipart/alternative; boundary=inner\r\n\r\n--inner\r\nContent-Type: "
        "text/html\r\n\r\n<p>Bring "
        "<b>oil</b></p>\r\n--inner\r\nContent-Type: text/plain; charset=iso-8859-1\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\nBring =D6l,=\r\n "
        "please.\r\n\r\nSoon.\r\n"
        "--inner--\r\n----b 1\r\nContent-Type: application/rtf; name=plan.rtf\r\n"
        "Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment; "
        "filename*=utf-8''pl%C3%A4ne.rtf\r\n\r\ne1xydGYxIFRoZSBw\r\nbGFuLlxwYXJ9\r\n----b 1\r\n"
        "Content-Type: image/png; name=\"a.png\"\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        "iVBORw0KGgo=\r\n----b 1--\r\n",
        "mail",
        "\xC3\x96l! two cans\n\nFrom: Ren\xC3\xA9 B\xC3\xB6ll <r@example.org>\nTo: crew\n\nBring "
        "\xC3\x96l, please.\n\nSoon.\n\nAttachment: pl\xC3\xA4ne.rtf\n\nThe plan.\n\nAttachment: "
        "a.png "
        "(a PNG image, not read)");
    read_one(
        "From a@example.org Thu Jan  1 00:00:00 1970\nFrom: a\nTo: b\nSubject: "
        "One\n\nFirst.\n>From here\n\n"
        "From b@example.org Thu Jan  1 00:00:00 1970\nFrom: b\nTo: a\nSubject: Two\n\nSecond.\n",
        "mbox", "One\n\nFrom: a\nTo: b\n\nFirst.\n>From here\n\nTwo\n\nFrom: b\nTo: a\n\nSecond.");
    /* Parts within parts end. */
    fo_buf deep = {0};
    fo_buf_str(&deep, "Received: x\nFrom: a\nTo: b\n");
    for (int i = 0; i < 500; i++)
        fo_buf_printf(&deep, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i);
    fo_buf_str(&deep, "\nText.\n");
    read_one(deep.data, "mail",
             "From: a\nTo: b\n\n(More parts of this message are too many or too deep within each "
             "other; they "
             "were not read.)");
    fo_buf_free(&deep);
}

#define MAIL(rest) "Received: x\nFrom: a\nTo: b\n" rest
static const char nameless[] = "Content-Type: application/rtf\n\n{\\rtf1 The plan.\\par}\n";

/* Programs attach to a text's last form alone, and what they attach has no name, or a long one. */
static void what_is_attached_is_found_everywhere(void **state) {
    (void)state;
    read_one(MAIL("Content-Type: multipart/alternative; boundary=o\n\n--o\n\nSee the plan.\n--o\n"
                  "Content-Type: multipart/mixed; boundary=i\n\n--i\nContent-Type: text/html\n\n"
                  "<p>See the plan.</p>\n--i\nContent-Type: image/png; name=logo.png\n\nx\n--i\n"
                  "Content-Type: application/rtf; name=plan.rtf\n\n{\\rtf1 The plan.\\par}\n--i\n"
                  "Content-Type: message/rfc822\n\nFrom: c\n\nWithin.\n--i--\n--o--\n"),
             "mail",
             "From: a\nTo: b\n\nSee the plan.\n\nAttachment: plan.rtf\n\nThe plan.\n\nFrom: c\n\n"
             "Within.");
    fo_buf mail = {0};
    fo_buf_printf(&mail,
                  MAIL("Content-Type: multipart/signed; boundary=o\n\n--o\n%s--o\n"
                       "Content-Type: application/pgp-signature\n\n-----\n--o--\n"),
                  nameless);
    read_one(mail.data, "mail", "From: a\nTo: b\n\nAttachment: attachment\n\nThe plan.");
    fo_buf_free(&mail);
}

/* A plain form that is left empty stands for nothing. */
static void an_empty_form_hides_no_other(void **state) {
    (void)state;
    static const char *const blank[] = {"\n", "Content-Transfer-Encoding: base64\n\nDQrCoA0K\n",
                                        "Content-Type: text/plain; charset=utf-8\n\n \xC2\xA0\n"};
    for (size_t i = 0; i < sizeof blank / sizeof *blank; i++) {
        fo_buf mail = {0};
        fo_buf_printf(&mail,
                      MAIL("Content-Type: multipart/alternative; boundary=o\n\n--o\n%s\n--o\n"
                           "Content-Type: text/html\n\n<p>It costs 500 euro.</p>\n--o--\n"),
                      blank[i]);
        read_one(mail.data, "mail", "From: a\nTo: b\n\nIt costs 500 euro.");
        fo_buf_free(&mail);
    }
}

static void a_soft_break_before_the_boundary_leaves_nothing(void **state) {
    (void)state;
    read_one(
        "From: Ann <a@example.org>\nSubject: Plan\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=b1\n\n--b1\nContent-Type: text/plain\n"
        "Content-Transfer-Encoding: quoted-printable\n\nAt eight, 1+1=3D2,=\n at noon.=\n--b1--\n",
        "mail", "Plan\n\nFrom: Ann <a@example.org>\n\nAt eight, 1+1=2, at noon.");
}

#define INVITATION                                                                                 \
    "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Review\nDTSTART:20240305T140000Z\n"                    \
    "LOCATION:Caf\xC3\xA9\nEND:VEVENT\nEND:VCALENDAR\n"
#define EVENT "Review\n\nWhen: 2024-03-05 14:00 UTC\nWhere: Caf\xC3\xA9"

/* A request to meet says when and where, which the text beside it need not. */
static void requests_to_meet_are_read(void **state) {
    (void)state;
    read_one(MAIL("Content-Type: multipart/alternative; boundary=o\n\n--o\n\nPlease join.\n--o\n"
                  "Content-Type: text/html\n\n<p>Please join.</p>\n--o\nContent-Type: "
                  "text/x-amp-html\n\n<p>Please!</p>\n--o\n"
                  "Content-Type: text/calendar; charset=utf-8; method=REQUEST\n\n" INVITATION
                  "--o--\n"),
             "mail", "From: a\nTo: b\n\nPlease join.\n\n" EVENT);
    read_one(MAIL("Content-Type: multipart/alternative; boundary=o\n\n--o\n"
                  "Content-Type: text/html\n\n<p>Please join.</p>\n--o\n"
                  "Content-Type: text/calendar\n\n" INVITATION "--o--\n"),
             "mail", "From: a\nTo: b\n\nPlease join.\n\n" EVENT);
    read_one(
        MAIL("Content-Type: multipart/mixed; boundary=o\n\n--o\n\nPlease join.\n--o\n"
             "Content-Type: text/calendar; name=invite.ics\n\n" INVITATION "--o\n"
             "Content-Type: text/calendar\n\nnothing\n--o--\n"),
        "mail",
        "From: a\nTo: b\n\nPlease join.\n\nAttachment: invite.ics\n\n" EVENT
        "\n\nThis attachment could not be read: it holds neither a calendar nor a card: no line "
        "BEGIN:VCALENDAR or BEGIN:VCARD");
}

/* What is attached is read as what its name says, and stands below it, also where it is text. */
static void attached_texts_stand_under_their_names(void **state) {
    (void)state;
    read_one(MAIL("Content-Type: multipart/mixed; boundary=o\n\n--o\n\nSee below.\n--o\n"
                  "Content-Disposition: attachment; filename=prices.txt\nContent-Type: text/plain; "
                  "charset=iso-8859-2\n\nApples 5 \xB1\n--o\n"
                  "Content-Disposition: attachment; filename=berths.csv\n\nboat,berth\nHeron,7\n"
                  "--o\nContent-Disposition: attachment; filename=page\nContent-Type: text/html; "
                  "charset=iso-8859-2\n\n<p>Pears \xB1</p>\n--o--\n"),
             "mail",
             "From: a\nTo: b\n\nSee below.\n\nAttachment: prices.txt\n\nApples 5 \xC4\x85\n\n"
             "Attachment: berths.csv\n\nboat | berth\n\nboat: Heron; berth: 7\n\nAttachment: "
             "page\n\nPears "
             "\xC4\x85");
}

/* Only behind a blank line begins a message, whatever ends the lines. */
static void lines_of_a_mailbox_begin_no_message(void **state) {
    (void)state;
    static const char *const ends[] = {"\n", "\r\n"};
    static const char box[] = "From a@b.c Mon Jan  1 00:00:00 2024|From: a|To: b|Subject: One||The "
                              "plan.|From Monday on it is closed.||From a@b.c Mon Jan  1 00:00:01 "
                              "2024|From: c|To: b|Subject: Two||Bye.|";
    for (size_t i = 0; i < 2; i++) {
        fo_buf mail = {0};
        for (const char *s = box; *s; s++) {
            if (*s == '|')
                fo_buf_str(&mail, ends[i]);
            else
                fo_buf_char(&mail, *s);
        }
        read_one(mail.data, "mbox",
                 "One\n\nFrom: a\nTo: b\n\nThe plan.\nFrom Monday on it is closed.\n\nTwo\n\nFrom: "
                 "c\nTo: b\n\nBye.");
        fo_buf_free(&mail);
    }
}

/* A paragraph that begins so has no time. */
static void a_paragraph_from_the_text_begins_no_message(void **state) {
    (void)state;
    read_one("From a@b.c Mon Jan  1 00:00:00 2024\nFrom: a\nTo: b\nSubject: One\n\nHello.\n\n"
             "From the next month on, rent is 5.\nBye.\n\nFrom 2024 on it is 6.\n\nFrom 10:30 on "
             "it is open.\n\nFrom a@b.c Mon Jan  1 00:00 2024\nFrom: c\nTo: b\nSubject: "
             "Two\n\nBye.\n\nFrom - Mon, 01 Jan 2024 9:05:00 +0100\nFrom: d\nTo: b\nSubject: "
             "Three\n\nYes.\n",
             "mbox",
             "One\n\nFrom: a\nTo: b\n\nHello.\n\nFrom the next month on, rent is 5.\nBye.\n\nFrom "
             "2024 on it is 6.\n\nFrom 10:30 on it is open.\n\nTwo\n\nFrom: c\nTo: b\n\nBye.\n\n"
             "Three\n\nFrom: d\nTo: b\n\nYes.");
}

/* Programs show a text that is attached within the message, and say so: it is a file all the same. */
static void texts_with_a_file_name_are_attached(void **state) {
    (void)state;
    read_one(MAIL("Content-Type: multipart/alternative; boundary=o\n\n--o\n\nSee the prices.\n--o\n"
                  "Content-Type: multipart/mixed; boundary=i\n\n--i\nContent-Type: text/html\n\n"
                  "<p>See the prices.</p>\n--i\nContent-Type: text/csv\nContent-Disposition: "
                  "inline; filename=\"prices.csv\"\n\nboat,price\nHeron,7\n--i--\n--o--\n"),
             "mail",
             "From: a\nTo: b\n\nSee the prices.\n\nAttachment: prices.csv\n\nboat | price\n\n"
             "boat: Heron; price: 7");
    read_one(
        MAIL("Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Disposition: inline\n\n"
             "See below.\n--o\nContent-Type: text/plain; name=notes.xyz\n\nIt rains.\n--o\n"
             "Content-Type: text/html; name=body.html\n\n<p>Bye.</p>\n--o--\n"),
        "mail", "From: a\nTo: b\n\nSee below.\n\nAttachment: notes.xyz\n\nIt rains.\n\nBye.");
}

static void a_boundary_that_begins_another_ends_nothing_of_it(void **state) {
    (void)state;
    read_one(MAIL("Content-Type: multipart/mixed; boundary=part\n\n--part\n"
                  "Content-Type: multipart/alternative; boundary=part-alt\n\n--part-alt\n\nPlain "
                  "words.\n--part-alt\nContent-Type: text/html\n\n<p>Plain words.</p>\n"
                  "--part-alt--\n--part \t\r\n\nMore words.\n--part-- \r\nepilogue\n"),
             "mail", "From: a\nTo: b\n\nPlain words.\n\nMore words.");
}

/* In these character sets a letter and the mark behind it are one character, so that it has to be waited for. */
static void the_last_letter_is_kept(void **state) {
    (void)state;
    read_one(MAIL("Subject: =?windows-1255?Q?=F9=EC=E5=ED_=E0?=\nContent-Type: text/plain; "
                  "charset=windows-1258\n\nch\xE0o a"),
             "mail",
             "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xD7\x90\n\nFrom: a\nTo: b\n\nch\xC3\xA0o a");
}

/* Two bytes of Chinese may be one character of UTF-8: what is said of so short a text is believed. */
static void short_texts_are_what_they_are_declared(void **state) {
    (void)state;
    read_one(MAIL("Subject: =?GB2312?B?xa4=?=\nContent-Type: multipart/mixed; boundary=o\n\n--o\n"
                  "Content-Type: text/plain; charset=gb2312\nContent-Transfer-Encoding: base64\n\n"
                  "xa4=\n--o\nContent-Type: application/rtf\nContent-Disposition: attachment; "
                  "filename*=gb2312''%C5%AE.rtf\n\n{\\rtf1 The plan.\\par}\n--o--\n"),
             "mail",
             "\xE5\xA5\xB3\n\nFrom: a\nTo: b\n\n\xE5\xA5\xB3\n\nAttachment: \xE5\xA5\xB3.rtf\n\n"
             "The plan.");
    /* The label of Western Europe is what programs put that know no other. */
    read_one(MAIL("Subject: =?iso-8859-1?Q?caf=C3=A9?=\n\nx\n"), "mail",
             "caf\xC3\xA9\n\nFrom: a\nTo: b\n\nx");
}

static void names_of_attachments_are_decoded(void **state) {
    (void)state;
    static const struct {
        const char *parameters, *name;
    } cases[] = {
        {"filename*0*=utf-8''pl%C3%A4; filename*1*=ne%20; filename*2=\"of 'it.rtf\"",
         "pl\xC3\xA4ne of 'it.rtf"},
        {"filename*1=\"ne.rtf\";\n filename*0=\"pla\"", "plane.rtf"},
        {"filename=\"=?UTF-8?B?cGzDpG5l?=\n =?iso-8859-1?Q?_f=FCr.rtf?=\"",
         "pl\xC3\xA4ne f\xC3\xBCr.rtf"},
        {"filename=\"plan.rtf\"; filename*=iso-8859-1'de'pl%E4ne.rtf", "pl\xC3\xA4ne.rtf"},
        {"filename=\"a; filename=\\\"b\\\".rtf\"", "a; filename=\"b\".rtf"},
        {"x=filename=; filename = plan.rtf", "plan.rtf"},
        {"filename=\"\"", "attachment"},
        {"filename*=utf-8", "utf-8"},
        {"filename", "attachment"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf mail = {0}, text = {0};
        fo_buf_printf(&mail,
                      MAIL("Content-Type: multipart/mixed; boundary=o\n\n--o\n"
                           "Content-Disposition: attachment; %s\n%s--o--\n"),
                      cases[i].parameters, nameless);
        fo_buf_printf(&text, "From: a\nTo: b\n\nAttachment: %s\n\nThe plan.", cases[i].name);
        read_one(mail.data, "mail", text.data);
        fo_buf_free(&mail);
        fo_buf_free(&text);
    }
}

static extract_request request_of(const fo_buf *bytes) {
    return (extract_request){.bytes = bytes->data,
                             .n = bytes->len,
                             .max_text_bytes = LIMIT,
                             .formats = here,
                             .n_formats = n_here};
}

/* A list of parts ends, and says so where there are more. */
static void parts_beyond_the_list_are_told(void **state) {
    (void)state;
    static const char more[] = "(More parts of this message are too many";
    for (int n = 64; n <= 65; n++) {
        fo_buf mail = {0};
        fo_buf_str(&mail, MAIL("Content-Type: multipart/mixed; boundary=o\n\n"));
        for (int i = 1; i <= n; i++) fo_buf_printf(&mail, "--o\n\nPart %d.\n", i);
        fo_buf_str(&mail, "--o--\n");
        extracted x;
        fo_err err = {0};
        const extract_request rq = request_of(&mail);
        assert_ok(extract_text(&x, &rq, &err), &err);
        assert_non_null(strstr(x.text, "Part 64."));
        assert_int_equal(strstr(x.text, more) != NULL, n == 65);
        extracted_deinit(&x);
        fo_buf_free(&mail);
    }
}

/* ---- quotations ----------------------------------------------------------------------------------- */

/* What is quoted was wrapped: a paragraph of it is one line with its marks, and lists and greetings keep their lines. */
static void quoted_paragraphs_are_lines_with_their_marks(void **state) {
    (void)state;
    read_one(
        MAIL("\nHi Matteo,\n\nfinal then: 185 people for the dinner, not 160 as I wrote last week. "
             "34 of\nthem are new.\n\nOn Mon, 25 May 2026, Matteo Ricci wrote:\n"
             "> Dear Nadia,\n>\n"
             "> the Old Brewery has sent its offer: 41 euros per head for the buffet, 6 euros\n"
             "> for a drink of welcome. The down payment of 1,500 euros is due on 1 June. I\n"
             "> will pay it this week.\n"
             "> - the hall costs 600 euros, which is dropped if more than 150 people come so\n"
             "> - the bus\n>\n> Is it still 160 people?\nNo, 185.\n\n> Matteo\n> Ricci\n>\n"
             "> On Wed, 20 May 2026, Nadia Brenner wrote:\n"
             ">> so far 160 people have booked the dinner. I would like to have live music\n"
             ">> again.\n>5 km\n"),
        "mail",
        "From: a\nTo: b\n\nHi Matteo,\n\nfinal then: 185 people for the dinner, not 160 as I "
        "wrote last week. 34 of\nthem are new.\n\nOn Mon, 25 May 2026, Matteo Ricci wrote:\n\n"
        "> Dear Nadia,\n\n"
        "> the Old Brewery has sent its offer: 41 euros per head for the buffet, 6 euros for a "
        "drink of welcome. The down payment of 1,500 euros is due on 1 June. I will pay it "
        "this week.\n"
        "> - the hall costs 600 euros, which is dropped if more than 150 people come so\n"
        "> - the bus\n\n> Is it still 160 people?\nNo, 185.\n\n> Matteo\n> Ricci\n\n"
        "> On Wed, 20 May 2026, Nadia Brenner wrote:\n\n"
        ">> so far 160 people have booked the dinner. I would like to have live music again.\n"
        ">5 km");
}

/* Who was wrapped at another width than the longest of them has whole sentences, too; short lines stay. */
static void a_quoted_line_that_breaks_off_goes_on(void **state) {
    (void)state;
    read_one(MAIL("\nYes.\n\n> I have rung them, and they say that they can come here on any day "
                  "of that week.\n>\n"
                  ">> The barn it is then: tell me what you eat by\n>> the end of August please.\n"
                  ">> Bring: two chairs\n>> one table\n"),
             "mail",
             "From: a\nTo: b\n\nYes.\n\n"
             "> I have rung them, and they say that they can come here on any day of that week.\n\n"
             ">> The barn it is then: tell me what you eat by the end of August please.\n"
             ">> Bring: two chairs\n>> one table");
}

/* ---- calendars ------------------------------------------------------------------------------------ */

static void repetitions_are_told_whole(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2", "every month on the 2nd Tuesday"},
        {"FREQ=MONTHLY;BYDAY=2TU,-1FR", "every month on the 2nd Tuesday, the last Friday"},
        {"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
         "every month on the last of Monday, Tuesday, Wednesday, Thursday, Friday"},
        {"FREQ=MONTHLY;BYSETPOS=1,-2;BYDAY=SA", "every month on the 1st, the 2nd to last Saturday"},
        {"FREQ=MONTHLY;BYMONTHDAY=15,-1;COUNT=3",
         "every month on day 15, the last day of the month, 3 times"},
        {"FREQ=YEARLY;BYMONTH=3,11;BYMONTHDAY=21;WKST=MO",
         "every year on day 21 of the month in March, November"},
        {"FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;UNTIL=20301231T000000Z",
         "every year on the 4th Thursday in November, until 2030-12-31 00:00 UTC"},
        {"FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
         "every month on Friday where it is day 13 of the month"},
        {"FREQ=WEEKLY;INTERVAL=2;BYDAY=SA", "every 2 weeks on Saturday"},
        {"FREQ=YEARLY;BYYEARDAY=100", NULL},
        {"FREQ=DAILY;BYHOUR=9", NULL},
        {"FREQ=MONTHLY;BYSETPOS=1;BYMONTHDAY=1,2", NULL},
        {"FREQ=MONTHLY;BYDAY=2TU;BYSETPOS=1", NULL},
        {"FREQ=MONTHLY;BYDAY=XX", NULL},
        {"FREQ=MONTHLY;BYMONTH=13", NULL},
        {"FREQ=MONTHLY;BYMONTHDAY=32", NULL},
        {"FREQ=MONTHLY;BYDAY=", NULL},
        {"FREQ=FORTNIGHTLY", NULL},
        {"COUNT=3", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf file = {0}, text = {0};
        fo_buf_printf(&file,
                      "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Board\nRRULE:%s\nEND:VEVENT\n"
                      "END:VCALENDAR\n",
                      cases[i][0]);
        fo_buf_printf(&text, "Board\n\nRepeats: %s", cases[i][1] ? cases[i][1] : cases[i][0]);
        read_one(file.data, "calendar", text.data);
        fo_buf_free(&file);
        fo_buf_free(&text);
    }
}

static void all_dates_of_a_list_are_told(void **state) {
    (void)state;
    read_one("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Board\nDTSTART:20240109T100000\n"
             "EXDATE;TZID=Europe/Berlin:20240213T100000,20240312T100000\nEXDATE:20240409T100000\n"
             "RDATE;VALUE=DATE:20240320,20240321\nRDATE;VALUE=PERIOD:20240401T100000Z/PT2H,"
             "20240402T100000Z/20240402T110000Z\nEND:VEVENT\nEND:VCALENDAR\n",
             "calendar",
             "Board\n\nWhen: 2024-01-09 10:00\nExcept: 2024-02-13 10:00, 2024-03-12 10:00 "
             "(Europe/Berlin)\nExcept: 2024-04-09 10:00\nAlso: 2024-03-20, 2024-03-21\nAlso: "
             "2024-04-01 10:00 UTC/PT2H, 2024-04-02 10:00 UTC to 2024-04-02 11:00 UTC");
}

/* The end of whole days is the day behind them. */
static void whole_days_are_told_from_the_first_to_the_last(void **state) {
    (void)state;
    read_one("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Holidays\nDTSTART;VALUE=DATE:20261221\n"
             "DTEND;VALUE=DATE:20270104\nEND:VEVENT\nBEGIN:VEVENT\nSUMMARY:Training day\n"
             "DTSTART;VALUE=DATE:20261113\nDTEND;VALUE=DATE:20261114\nDESCRIPTION:No lessons.\n"
             "END:VEVENT\nBEGIN:VEVENT\nSUMMARY:Trip\nDTSTART;VALUE=DATE:20270517\n"
             "DTEND;VALUE=DATE:20270522\nLOCATION:Hostel\nEND:VEVENT\nEND:VCALENDAR\n",
             "calendar",
             "Holidays\n\nWhen: 2026-12-21 to 2027-01-03\n\nTraining day\n\nWhen: 2026-11-13\n\n"
             "No lessons.\n\nTrip\n\nWhen: 2027-05-17 to 2027-05-21\nWhere: Hostel");
    /* One that ends on the day where it begins. */
    read_one("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Trip\nDTSTART;VALUE=DATE:20240503\n"
             "DTEND;VALUE=DATE:20240503\nEND:VEVENT\nEND:VCALENDAR\n",
             "calendar", "Trip\n\nWhen: 2024-05-03");
}

static void one_that_was_moved_is_told_as_such(void **state) {
    (void)state;
    read_one("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Board\n"
             "RECURRENCE-ID;TZID=Europe/Berlin:20240213T100000\nDTSTART:20240215T090000Z\n"
             "END:VEVENT\nBEGIN:VEVENT\nSUMMARY:Board\nRECURRENCE-ID;RANGE=THISANDFUTURE:"
             "20240312T100000Z\nDTSTART:20240312T110000Z\nEND:VEVENT\nEND:VCALENDAR\n",
             "calendar",
             "Board\n\nWhen: 2024-02-15 09:00 UTC\nInstead of: 2024-02-13 10:00 "
             "(Europe/Berlin)\n\nBoard\n\nWhen: 2024-03-12 11:00 UTC\nInstead of this and all "
             "later ones: 2024-03-12 10:00 UTC");
}

/* A semicolon parts what has parts, and is a letter of what has none. */
static void addresses_of_a_card_are_whole(void **state) {
    (void)state;
    read_one("BEGIN:VCARD\nFN:Ann\nORG:Reedmark;Water\nURL:https://x.org/a;b=1?c=2\n"
             "ADR:;;Long Pier 4;Reedmark\nEND:VCARD\n",
             "calendar",
             "Ann\n\nOrganization: Reedmark, Water\nURL: https://x.org/a;b=1?c=2\n"
             "Address: Long Pier 4, Reedmark");
}

/* Of a field that goes on for longer than is read, that it does is seen. */
static void a_field_that_is_too_long_is_seen_to_be_cut(void **state) {
    (void)state;
    enum { ADDRESSES = 3000, LINE = 40 };
    fo_buf mail = {0}, want = {0};
    fo_buf_str(&mail, "Received: x\nFrom: a\nTo: ");
    fo_buf_str(&want, "From: a\nTo: ");
    for (int i = 0; i < ADDRESSES; i++) {
        char line[LINE + 1];
        snprintf(line, sizeof line, "member%04d@long.example.org,%012d", i, 0);
        fo_buf_printf(&mail, "%s%s\n", i ? " " : "", line);
        if ((i + 1) * (LINE + 1) - 1 < 64 << 10) fo_buf_printf(&want, "%s ", line);
    }
    fo_buf_str(&want, "\xE2\x80\xA6\n\nText.");
    fo_buf_str(&mail, "\nText.\n");
    read_one(mail.data, "mail", want.data);
    fo_buf_free(&mail);
    fo_buf_free(&want);
}

/* A message whose field holds n bytes of `unit` over and over, as it is read. */
static extracted read_field_of(const char *field, const char *unit, size_t n) {
    fo_buf mail = {0};
    extracted x;
    fo_err err = {0};
    fo_buf_printf(&mail, "Received: x\nFrom: a\n%s: ", field);
    for (size_t i = 0; i < n; i++) fo_buf_char(&mail, unit[i % strlen(unit)]);
    fo_buf_str(&mail, "\n\nText.\n");
    const extract_request rq = request_of(&mail);
    assert_ok(extract_text(&x, &rq, &err), &err);
    assert_string_equal(x.format, "mail");
    assert_true(fo_utf8_valid(x.text, x.len, NULL));
    fo_buf_free(&mail);
    return x;
}

/* The title is as long as a title may be, the text has all of it: on one line, in folded ones, in encoded words. */
static void a_long_subject_is_in_the_text_whole(void **state) {
    (void)state;
    enum { BYTES = 240000, TITLE = 1000 };
    static const char *const units[] = {"P\u00FCmpe. ", "Pump.\n ", "=?utf-8?B?UMO8bXBlLiA=?=\n "},
                             *const words[] = {"P\u00FCmpe. ", "Pump. ", "P\u00FCmpe. "};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = BYTES / strlen(units[i]), len = strlen(words[i]);
        extracted x = read_field_of("Subject", units[i], n * strlen(units[i]));
        const char *at = strstr(x.text, "\n\nSubject: ");
        assert_non_null(at);
        at += 11;
        for (size_t k = 0; k + 1 < n; k++, at += len)
            if (memcmp(at, words[i], len) != 0) fail_msg("%zu: %.20s", k, at);
        assert_memory_equal(at, words[i], len - 1);
        assert_string_equal(at + len - 1, "\n\nFrom: a\n\nText.");
        const size_t n_title = strlen(x.title);
        assert_in_range(n_title, TITLE - 4, TITLE);
        assert_true(fo_utf8_valid(x.title, n_title, NULL));
        assert_memory_equal(x.text, x.title, n_title);
        assert_memory_equal(x.blocks[0].kind == TEXT_HEADING ? x.text + x.blocks[0].end - 3 : "   ",
                            "\u2026", 3);
        assert_in_range(x.blocks[0].end - x.blocks[0].start, n_title + 3, n_title + 4);
        extracted_deinit(&x);
    }
    for (size_t n = TITLE; n <= TITLE + 1; n++) { /* the longest title, and one byte more */
        extracted x = read_field_of("Subject", "pump", n);
        assert_int_equal(strlen(x.title), TITLE);
        assert_int_equal(strstr(x.text, "Subject: ") != NULL, n > TITLE);
        assert_int_equal(strstr(x.text, "\u2026") != NULL, n > TITLE);
        extracted_deinit(&x);
    }
}

/* Of one line that is longer than is read the beginning is, up to the end of a character. */
static void a_long_line_of_a_field_is_cut_between_characters(void **state) {
    (void)state;
    static const struct {
        const char *field;
        size_t most;
    } fields[] = {{"To", 64 << 10}, {"Subject", 1 << 20}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (size_t more = 0; more < 4; more++) {
            const size_t n = fields[i].most + more, whole = fields[i].most / 3 * 3;
            extracted x = read_field_of(fields[i].field, "\u6C34", n / 3 * 3);
            const char *at = strstr(x.text, i ? "\n\nSubject: " : "\nTo: ");
            assert_non_null(at);
            at += i ? 11 : 5;
            for (size_t k = 0; k < whole; k += 3) assert_memory_equal(at + k, "\u6C34", 3);
            const bool cut = n / 3 * 3 > fields[i].most;
            const char *end = cut ? "\u2026\n\n" : "\n\n";
            assert_memory_equal(at + whole, end, strlen(end));
            extracted_deinit(&x);
        }
    extracted x = read_field_of("To", "\U0001F4A7aaaaaaaaa", 70000); /* within its last byte */
    assert_non_null(strstr(x.text, "aaaaaaaaa\u2026\n\nText."));
    extracted_deinit(&x);
    /* Bytes that are no UTF-8, which have no such end. */
    x = read_field_of("To", "\xB0", 70000);
    assert_int_equal(x.len, strlen("From: a\nTo: \u2026\n\nText.") + strlen("\uFFFD") * (64 << 10));
    extracted_deinit(&x);
    for (size_t n = 64 << 10; n <= (64 << 10) + 1;
         n++) { /* as much as is read, and one byte more */
        x = read_field_of("To", "a", n);
        assert_int_equal(strstr(x.text, "\u2026") != NULL, n > 64 << 10);
        extracted_deinit(&x);
    }
}

/* The standard's "cell" is what people call a mobile. */
static void a_cell_telephone_of_a_card_is_a_mobile(void **state) {
    (void)state;
    read_one("BEGIN:VCARD\nFN:Ann\nTEL;TYPE=CELL:0770 1\nTEL;TYPE=work,cell:0770 2\n"
             "TEL;TYPE=HOME:0770 3\nEND:VCARD\n",
             "calendar",
             "Ann\n\nTelephone (mobile): 0770 1\nTelephone (work,mobile): 0770 2\n"
             "Telephone (home): 0770 3");
    /* as phones of the time of version 2.1 write it */
    read_one("BEGIN:VCARD\nVERSION:2.1\nFN:Ann\nTEL;CELL:0770 1\nTEL;WORK;VOICE:0770 2\n"
             "TEL;PREF:0770 3\nEND:VCARD\n",
             "calendar",
             "Ann\n\nTelephone (mobile): 0770 1\nTelephone (work): 0770 2\nTelephone: 0770 3");
}

/* A mark that says that there is HTML is no text, and a short text that is not about it is. */
static void a_form_that_asks_for_html_hides_no_other(void **state) {
    (void)state;
#define FORMS(plain)                                                                               \
    MAIL("Content-Type: multipart/alternative; boundary=o\n\n--o\n\n" plain                        \
         "\n--o\nContent-Type: text/html\n\n<p>The pump costs 500 euros.</p>\n--o--\n")
    read_one(FORMS("Please use a program that shows HTML."), "mail",
             "From: a\nTo: b\n\nThe pump costs 500 euros.");
    read_one(FORMS("The pump: 500."), "mail", "From: a\nTo: b\n\nThe pump: 500.");
    read_one(MAIL("Content-Type: text/plain\n\nWe write HTML."), "mail",
             "From: a\nTo: b\n\nWe write HTML.");
}

/* "K\u00FCche" is cut between the two bytes of its second letter. */
static void characters_may_be_cut_between_encoded_words(void **state) {
    (void)state;
    read_one(
        "Received: x\nFrom: =?utf-8?Q?=C3?= =?UTF-8?B?vA==?= =?iso-8859-1?Q?=FC?= x =?utf-8?Q?y?=\n"
        "To: b\nSubject: =?utf-8?B?S8M=?=\n =?utf-8?B?vGNoZQ==?=\n\nText.\n",
        "mail", "K\u00FCche\n\nFrom: \u00FC\u00FC x y\nTo: b\n\nText.");
}

/* Words that begin and never end are not looked for to the end of the field, each. */
static void words_that_never_end_take_no_time(void **state) {
    (void)state;
    enum { MESSAGES = 48, WORDS = 9000 };
    fo_buf box = {0};
    for (int i = 0; i < MESSAGES; i++) {
        fo_buf_str(&box, "From a@b.c Thu Jan  1 00:00:00 1970\nFrom: a\nTo: b\nSubject: ");
        for (int k = 0; k < WORDS; k++) fo_buf_str(&box, "=?x?q?a");
        fo_buf_str(&box, "\n\nText\n\n");
    }
    struct timespec begin, end;
    extracted x;
    fo_err err = {0};
    const extract_request rq = request_of(&box);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    assert_ok(extract_text(&x, &rq, &err), &err);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    assert_string_equal(x.format, "mbox");
    assert_true(end.tv_sec - begin.tv_sec < 3);
    extracted_deinit(&x);
    fo_buf_free(&box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mail_and_what_is_attached),
        cmocka_unit_test(what_is_attached_is_found_everywhere),
        cmocka_unit_test(names_of_attachments_are_decoded),
        cmocka_unit_test(parts_beyond_the_list_are_told),
        cmocka_unit_test(an_empty_form_hides_no_other),
        cmocka_unit_test(a_soft_break_before_the_boundary_leaves_nothing),
        cmocka_unit_test(requests_to_meet_are_read),
        cmocka_unit_test(attached_texts_stand_under_their_names),
        cmocka_unit_test(lines_of_a_mailbox_begin_no_message),
        cmocka_unit_test(a_paragraph_from_the_text_begins_no_message),
        cmocka_unit_test(texts_with_a_file_name_are_attached),
        cmocka_unit_test(a_boundary_that_begins_another_ends_nothing_of_it),
        cmocka_unit_test(the_last_letter_is_kept),
        cmocka_unit_test(short_texts_are_what_they_are_declared),
        cmocka_unit_test(quoted_paragraphs_are_lines_with_their_marks),
        cmocka_unit_test(a_quoted_line_that_breaks_off_goes_on),
        cmocka_unit_test(repetitions_are_told_whole),
        cmocka_unit_test(all_dates_of_a_list_are_told),
        cmocka_unit_test(whole_days_are_told_from_the_first_to_the_last),
        cmocka_unit_test(one_that_was_moved_is_told_as_such),
        cmocka_unit_test(addresses_of_a_card_are_whole),
        cmocka_unit_test(a_field_that_is_too_long_is_seen_to_be_cut),
        cmocka_unit_test(a_long_subject_is_in_the_text_whole),
        cmocka_unit_test(a_long_line_of_a_field_is_cut_between_characters),
        cmocka_unit_test(a_cell_telephone_of_a_card_is_a_mobile),
        cmocka_unit_test(a_form_that_asks_for_html_hides_no_other),
        cmocka_unit_test(characters_may_be_cut_between_encoded_words),
        cmocka_unit_test(words_that_never_end_take_no_time),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
