# shellcheck shell=bash
# served.sh: what a server answered.

code() { curl -s -o "$1" -w '%{http_code}' "$2"; } # code FILE URL: prints the status
total() { # total TYPE FILE: the sum of that value over all samples
    pprof -raw "$2" 2>/dev/null | awk -v type="$1" '
        /^Samples:/ { there = 1; next }
        /^Locations/ { there = 0 }
        there == 1 { for (i = 1; i <= NF; i++) if (index($i, type "/") == 1) column = i; there = 2; next }
        there == 2 && /^ *[0-9].*:/ { sub(/:.*/, ""); sum += $column }
        END { printf "%.0f\n", sum }'
}
flat() { # flat FUNCTION FILE: allocations in it
    pprof -top -nodefraction=0 -sample_index=alloc_objects "$2" 2>/dev/null | awk -v name="$1" '$6 == name { n = $1 } END { print n + 0 }'
}
