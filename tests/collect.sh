#!/usr/bin/env bash
# Programs that clear does not start record themselves with the variables of clear env. They count what they do themselves.
. "$(dirname "$0")/lib.sh"
mkdir -m 1777 dir
service() { # service COMMAND...: with the variables, as a service manager would start it
    (eval "$("$PLAIN_CLEAR" env --dir "$TMP/dir" 2>/dev/null)" && exec "$@")
}
recordings() { find dir -mindepth 1 -maxdepth 1 -type d; }
segments() { find dir -name '*.seg' | wc -l; }

# The variables.
"$CLEAR" env --dir /run/clear --runtime /usr/lib/libclear_rt.so --cpu=off --no-heap --depth 8 --memory 2MiB --db /var/lib/a.db >env.txt 2>err.txt
expect_equal "$(sed -n 1,2p env.txt | paste -sd' ')" \
    "export LD_PRELOAD=/usr/lib/libclear_rt.so\${LD_PRELOAD:+:\$LD_PRELOAD} export CLEAR_DIR=/run/clear" 'for a shell'
expect_match "$(cat env.txt)" '^export CLEAR_RECORD=features=[0-9]+,depth=8,ids_max=[0-9]+,segment_max=2097152,sample_n=0,sample_bytes=0,cpu_hz=0$' 'what is recorded'
expect_equal "$(cat err.txt)" 'clear: next: clear collect --dir /run/clear --db /var/lib/a.db' 'what follows'
expect_equal "$("$CLEAR" env --format systemd --dir '/run/a%b"c' 2>/dev/null | sed -n '1p;3p')" '[Service]
Environment="CLEAR_DIR=/run/a%%b\"c"' 'for systemd'
# shellcheck disable=SC2016
expect_equal "$("$CLEAR" env --format docker --dir '/run/$x' 2>/dev/null | sed -n 2p)" 'ENV CLEAR_DIR="/run/\$x"' 'for a Dockerfile'
"$CLEAR" env --format kubernetes --dir /run/clear 2>/dev/null >env.yaml
expect_equal "$(sed -n '1p;4,5p' env.yaml)" 'env:
  - name: CLEAR_DIR
    value: "/run/clear"' 'for a pod'
expect_status 2 "$CLEAR" env --cpu=perf 2>/dev/null
expect_status 2 "$CLEAR" env --format ini 2>/dev/null
expect_status 2 "$CLEAR" env --dir run 2>/dev/null

# A program, its child and what it executes make their segments in one private directory.
service "$FIXTURES/execs" 3 >/dev/null 2>&1 || true
expect_equal "$(recordings | wc -l)" 1 'directories of one program'
expect_equal "$(stat -c %a "$(recordings)" "$(recordings)"/* | sort -u | paste -sd' ')" '600 700' 'who may read them'
[ "$(segments)" -ge 2 ] || fail "$(segments) segments of a program that executes others"

# What hinders the recording leaves the program alone.
rm -rf dir/*
unharmed() { # unharmed WHAT: the program says and returns the same, and nothing is left
    local said
    said=$(service sh -c 'echo said; exit 7')
    expect_equal "$? $said" '7 said' "$1"
    expect_equal "$(find dir/ -mindepth 1 2>/dev/null | wc -l)" 0 "$1: what is left"
}
chmod 777 dir && unharmed 'a directory in which others may replace it'
rmdir dir && unharmed 'no directory'
touch dir && unharmed 'a file in its place'
rm dir && mkdir -m 1777 dir
(ulimit -f 0 && unharmed 'no file may be written')
expect_equal "$(CLEAR_DIR=$TMP/dir CLEAR_RECORD=features=1,depth=8,new=1 LD_PRELOAD=${PLAIN_CLEAR%/*}/libclear_rt.so echo said)" said 'settings of a newer clear'
expect_equal "$(find dir -mindepth 1 | wc -l)" 0 'settings of a newer clear: what is left'
