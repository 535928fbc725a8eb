# slips.awk - questions with a slip of the fingers: awk -f slips.awk SET.jsonl
# In the longest word of each text (of six letters or more, behind a capital or not) two letters change places, or one is left out,
# is written twice, or is another, by turns; the first and the last are right. The same slips each time.
BEGIN { letters = "abcdefghijklmnopqrstuvwxyz" }
{
    at = match($0, /"text": *"/)
    head = substr($0, 1, RSTART + RLENGTH - 1)
    rest = substr($0, RSTART + RLENGTH)
    end = match(rest, /[^\\]"/)
    text = substr(rest, 1, end)
    rest = substr(rest, end + 1)
    best = 0
    for (from = 1; match(substr(text, from), /[A-Za-z][a-z][a-z][a-z][a-z][a-z]+/); from = start + n) {
        start = from + RSTART - 1
        n = RLENGTH
        before = start > 1 ? substr(text, start - 1, 1) : " "
        if (before ~ /[ (]/ && n > best) { best = n; place = start }
    }
    if (best && at) {
        word = substr(text, place, best)
        k = 2 + (NR * 7) % (best - 3) # of the first letter that is hit
        a = substr(word, k, 1)
        b = substr(word, k + 1, 1)
        if (NR % 4 == 0 && a != b) slip = b a
        else if (NR % 4 == 1) slip = b
        else if (NR % 4 == 2) slip = a a b
        else slip = substr(letters, 1 + (index(letters, a) + NR) % 26, 1) b
        text = substr(text, 1, place - 1) substr(word, 1, k - 1) slip substr(word, k + 2) substr(text, place + best)
    }
    print head text rest
}
