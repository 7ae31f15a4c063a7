#!/usr/bin/env bash
# What is allocated while a lock is held stands below its finding, also where other work keeps the lock longer: two threads make nodes
# of a std::map under a mutex, and hold it for a sleep besides, so that each waits for the other. The program says how many nodes.
# build: plain
. "$(dirname "$0")/lib.sh"
command -v g++ >/dev/null || skip "no C++ compiler"
cat >nodes.cc <<'E'
#include <cstdio>
#include <map>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
static pthread_barrier_t start;
static std::mutex table_lock;
static std::map<int, int> table;
static void put(int key) {
    std::lock_guard<std::mutex> guard(table_lock);
    for (int i = 0; i < 50; i++)
        table[key * 50 + i] = i;
    usleep(5000);
}
static void serve(int first) {
    pthread_barrier_wait(&start);
    for (int i = 0; i < 30; i++) {
        put(first + i);
        usleep(200); // or the one that has it may take it again before the other one is there
    }
}
int main() {
    pthread_barrier_init(&start, nullptr, 2);
    std::thread one(serve, 0), other(serve, 30);
    one.join();
    other.join();
    std::printf("%zu\n", table.size());
}
E
g++ -g -O1 -pthread -o nodes nodes.cc || fail "nodes.cc"
expect_status 0 profile -q --cpu off -- ./nodes >nodes.txt
nodes=$(sed 's/\(.*\)\(...\)$/\1,\2/' nodes.txt)
# Where the machine has other work, the waits are for a processor, and the finding is a note.
"$CLEAR" doctor --top 0 --db t.db >report || fail "clear doctor"
expect_match "$(cat report)" 'nodes:table_lock' "the lock"
expect_match "$(cat report)" "allocations after it is taken $nodes\$" "nodes made under the lock"
