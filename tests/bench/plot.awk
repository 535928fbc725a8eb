# awk -f tests/bench/plot.awk -v unit=µs sizes.tsv > plot.svg - the lines of sizes.sh whose series end in
# ", UNIT" (or UNIT and a remark in brackets) against size, both axes logarithmic.
BEGIN {
    FS = "\t"
    width = 640; height = 360; left = 60; right = 230; top = 24; bottom = 40
    split("#1f6fb4 #d1581d #2e8b57 #8a4fbf #b03060 #555555", colour, " ")
}
{
    name = $1
    sub(/ \(.*\)$/, "", name)
    if (substr(name, length(name) - length(unit) + 1) != unit) next
    if (!($1 in number)) { number[$1] = ++n; series[n] = $1 }
    x[++m] = log($2) / log(10); y[m] = log($3) / log(10); of[m] = number[$1]
    if (m == 1 || x[m] < x0) x0 = x[m]
    if (m == 1 || x[m] > x1) x1 = x[m]
    if (m == 1 || y[m] < y0) y0 = y[m]
    if (m == 1 || y[m] > y1) y1 = y[m]
}
function floor(v) { return v < int(v) ? int(v) - 1 : int(v) }
function px(v) { return left + (v - x0) / (x1 - x0) * (width - left - right) }
function py(v) { return height - bottom - (v - y0) / (y1 - y0) * (height - top - bottom) }
function power(e) { return e < 0 ? sprintf("%g", 10 ^ e) : sprintf("%.0f", 10 ^ e) }
END {
    if (m < 2) exit 1
    y0 = floor(y0); y1 = -floor(-y1)
    if (y1 == y0) y1++
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", width, height
    printf "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, height
    for (e = y0; e <= y1; e++) {
        printf "<path d=\"M%d %.1fH%d\" stroke=\"#dddddd\"/>", left, py(e), width - right
        printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", left - 6, py(e) + 4, power(e)
    }
    for (e = x0; e <= x1 + .01; e++) {
        printf "<path d=\"M%.1f %dV%d\" stroke=\"#dddddd\"/>", px(e), top, height - bottom
        printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", px(e), height - bottom + 18, power(e)
    }
    printf "<text x=\"%d\" y=\"14\">%s</text>\n", left, unit
    for (s = 1; s <= n; s++) {
        path = ""
        for (i = 1; i <= m; i++) {
            if (of[i] != s) continue
            path = path (path == "" ? "M" : "L") sprintf("%.1f %.1f", px(x[i]), py(y[i]))
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>", px(x[i]), py(y[i]), colour[s]
            last = py(y[i])
        }
        printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colour[s]
        at[s] = last
    }
    for (s = 1; s <= n; s++) { # names beside the last points, pushed apart
        best = 0
        for (t = 1; t <= n; t++) if (!done[t] && (!best || at[t] < at[best])) best = t
        done[best] = 1
        line = s == 1 || at[best] > line + 15 ? at[best] : line + 15
        printf "<text x=\"%d\" y=\"%.1f\" fill=\"%s\">%s</text>\n", width - right + 8, line + 4, colour[best], series[best]
    }
    print "</svg>"
}
