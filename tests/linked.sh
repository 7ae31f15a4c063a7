# A program that was started by a link goes by the link's name, as redis-server does, whose file is redis-check-rdb; its objects stay the same.
# quick
. "$(dirname "$0")/lib.sh"

cat >program.c <<'C'
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&ledger);
        free(malloc(10));
        pthread_mutex_unlock(&ledger);
    }
    return 0;
}
C
mkdir bin && gcc -g -pthread -o bin/program program.c && ln -s program bin/server && ln -s program bin/prog || fail 'no program'
names() { # names PROGRAM: its executable, the lock's name and identity, the binary of main
    rm -f t.db
    "$CLEAR" profile -q --db t.db -o none.profile -- "$1" || fail "profile $1: $?"
    sql t.db "SELECT replace(executable, '$PWD/', '') FROM processes"
    sql t.db "SELECT name || ' ' || identity FROM objects WHERE name LIKE '%:ledger'"
    sql t.db "SELECT DISTINCT module || ' ' || function || ':' || line FROM frames WHERE function = 'main' LIMIT 1"
}
expect_equal "$(names bin/program)" 'bin/program
program:ledger symbol:program:ledger+0
program main:7' 'the file'
want='bin/server
server:ledger symbol:program:ledger+0
server main:7'
expect_equal "$(names bin/server)" "$want" 'a link'
expect_equal "$(names "$PWD/bin/server")" "$want" 'a link with its whole path'
expect_equal "$(PATH=$PWD/bin:$PATH names server)" "$want" 'a link in PATH'
expect_equal "$(sql t.db "SELECT count(*) FROM mappings WHERE filename LIKE '%/bin/program'")" 0 'mappings by two names'
expect_match "$("$CLEAR" list --db t.db --kind heap --sample_index=alloc_space main)" 'free[(]malloc[(]10' 'its source'
"$CLEAR" report --db t.db --kind heap --sample_index=alloc_space disasm=main >code.txt 2>err.txt || fail "its machine code: $(cat err.txt)"
expect_match "$(cat code.txt)" 'ROUTINE.* main' 'its machine code'
# python3 says less than python3.11, which it is a link to.
expect_equal "$(names bin/prog | head -1)" 'bin/program' "a link whose name begins the file's"
check_db t.db
