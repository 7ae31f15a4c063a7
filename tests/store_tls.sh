# A store on another host: the connection is encrypted, and the certificate must be signed by an authority that we know and fit the host; what
# does not is refused before anything is sent, with what to do. 127.0.0.2 stands for another host: it is none of the names of this one.
# timeout: 200
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
command -v openssl >/dev/null || fail 'openssl is not installed'
export HOME=$TMP/home
mkdir -p "$HOME"
authority() { # authority NAME: NAME.crt, NAME.key
    openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=$1" -keyout "$1.key" -out "$1.crt" 2>/dev/null || fail "the authority $1"
}
certificate() { # certificate NAME SAN: for the server, signed by `ours`
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2>/dev/null &&
        printf 'subjectAltName=%s\n' "$2" >"$1.ext" &&
        openssl x509 -req -in "$1.csr" -CA ours.crt -CAkey ours.key -CAcreateserial -days 30 -extfile "$1.ext" -out "$1.crt" 2>/dev/null || fail "the certificate $1"
}
authority ours
authority theirs
certificate fits IP:127.0.0.2
certificate other DNS:db.example.com
postgres_start
serve() { # serve CERTIFICATE|none: the server, with TLS by that certificate, on 127.0.0.2
    postgres_stop fast
    local tls=
    printf 'local all all trust\n%s all all 127.0.0.0/8 trust\n' "$([ "$1" = none ] && echo host || echo hostssl)" >"$PG/data/pg_hba.conf"
    if [ "$1" != none ]; then
        cp "$1.crt" "$PG/data/server.crt" && cp "$1.key" "$PG/data/server.key" && chmod 600 "$PG/data/server.key"
        [ "$(id -u)" != 0 ] || chown postgres:postgres "$PG"/data/server.*
        tls='-c ssl=on'
    fi
    for try in 1 2 3 4 5; do # another program may take the port between the two
        port=$(python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.2', 0)); print(s.getsockname()[1])")
        if (postgres_run -c "listen_addresses=127.0.0.2" -c "port=$port" $tls) 2>err.txt; then break; fi
        [ $try != 5 ] || fail "$(cat err.txt)"
    done
    FAR=postgresql://clear@127.0.0.2:$port/profiles
}
near() { PGPORT=$port psql -XqAt -c "$1"; }
has_store() { near "SELECT to_regclass('clear.meta') IS NOT NULL"; }
refused() { # refused PATTERN ADDRESS WHAT
    expect_status 1 "$CLEAR" store init --db "$2" 2>err.txt
    expect_match "$(cat err.txt)" "$1" "$3"
    [ "$(wc -l <err.txt)" = 1 ] || fail "$3: more than a line: $(cat err.txt)"
    expect_equal "$(has_store)" f "$3: what the server got"
}

serve other
refused 'does not match host name "127.0.0.2".*sslmode' "$FAR?sslrootcert=$TMP/ours.crt" "a certificate of another host"
serve fits
refused 'root certificate file .*sslrootcert' "$FAR" 'no file of authorities'
refused 'certificate verify failed.*sslrootcert' "$FAR?sslrootcert=$TMP/theirs.crt" 'another authority'
"$CLEAR" store init --db "$FAR?sslrootcert=$TMP/ours.crt" >/dev/null 2>err.txt || fail "a certificate that fits: $(cat err.txt)"
# The authority's file may be where libpq looks for it.
mkdir -p "$HOME/.postgresql" && cp ours.crt "$HOME/.postgresql/root.crt"
"$CLEAR" store status --db "$FAR" >status.txt 2>err.txt || fail "root.crt: $(cat err.txt)"
rm -r "$HOME/.postgresql"
# Who is told otherwise does otherwise.
"$CLEAR" store status --db "$FAR?sslmode=require" >/dev/null 2>err.txt || fail "sslmode=require: $(cat err.txt)"
PGSSLMODE=require "$CLEAR" store status --db "$FAR" >/dev/null 2>err.txt || fail "PGSSLMODE=require: $(cat err.txt)"
near 'DROP SCHEMA clear CASCADE' 2>/dev/null || fail drop
serve none
refused 'does not support SSL.*sslmode' "$FAR?sslrootcert=$TMP/ours.crt" 'a server without TLS'
expect_status 1 "$CLEAR" store status --db "$FAR?sslmode=disable" 2>err.txt
expect_match "$(cat err.txt)" 'there is no store' 'sslmode=disable'
exit 0
