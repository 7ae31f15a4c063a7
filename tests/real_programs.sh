# Programs that know nothing of us: same output byte for byte and same status with and without, and something recorded of each.
# timeout: 300
# plain: the runtime, which has no sanitizers
# long: builds and runs of real programs
. "$(dirname "$0")/lib.sh"

recorded() { # the newest run recorded allocations in a process of that executable
    local got
    got=$(sql t.db "SELECT count(*) FROM processes JOIN profiles ON profiles.process_id = processes.id JOIN sites ON sites.profile_id = profiles.id
        WHERE processes.run_id = (SELECT max(id) FROM runs) AND executable GLOB '*/$1'")
    [ "$got" -gt 0 ] || fail "nothing was recorded of $1"
}
files=$ROOT/schema
seq 1 60000 | sed 's/.*/& line of text &/' >lines.txt
cp "$ROOT/fixtures/heap_counts.c" "$ROOT/fixtures/tally.h" .

sh -c 'exec sqlite3 :memory:' <"$ROOT/fixtures/work.sql" >want.txt
"$CLEAR" profile --db t.db -o t.profile -- sqlite3 :memory: <"$ROOT/fixtures/work.sql" >got.txt || fail "sqlite3: $?"
expect_same_file got.txt want.txt sqlite3
recorded sqlite3
same_as_without sqlite3 :memory: 'SELECT nonsense' && recorded sqlite3

same_as_without python3 -c 'import json, re, collections
words = collections.Counter(re.findall(r"\w+", open("lines.txt").read()))
print(json.dumps(sorted(words.items())[:200]))
raise SystemExit(5)'
recorded 'python3*'
same_as_without python3 -c 'import concurrent.futures, hashlib
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda i: hashlib.sha256(b"x" * i * 1000).hexdigest(), range(50))))'
same_as_without python3 -c 'import subprocess, sys
print(subprocess.run(["sort", "-r", "lines.txt"], capture_output=True, check=True).stdout[-50:]); sys.exit(3)'
recorded sort

git init -q repo && cp lines.txt repo/ && cp -r "$files" repo/schema
git -C repo add . && git -C repo -c user.name=t -c user.email=t@example.org commit -qm one || fail 'no repository'
same_as_without git -C repo log --stat && recorded git
same_as_without git -C repo grep -n 'CREATE VIEW'
same_as_without git -C repo fsck --full
same_as_without git -C nowhere log

same_as_without perl -ne '$n{length $_}++; END { print "$_ $n{$_}\n" for sort { $a <=> $b } keys %n; exit 4 }' lines.txt && recorded perl
same_as_without gcc -std=gnu11 -O1 -fno-builtin -I. -S -o - heap_counts.c && recorded cc1
same_as_without gcc -std=gnu11 -pthread -o counts heap_counts.c && recorded '*ld.bfd'
same_as_without gcc -c nowhere.c
same_as_without xz -k -c -T2 lines.txt && recorded xz
cp under.out lines.xz
same_as_without xz -dc lines.xz
expect_same_file under.out lines.txt 'xz there and back'
same_as_without tar --sort=name --mtime=@0 -cf - -C "$ROOT" fixtures schema && recorded tar
same_as_without bash -c 'cat lines.txt | grep 7 | sort -rn | head -n 500 | wc -l; echo "${PIPESTATUS[*]}" >&2; exit 6' && recorded bash
same_as_without bash -c 'for i in $(seq 30); do echo "$i" | tr 0-9 a-j; done; (exit 3) || kill -TERM $$'
same_as_without sort --parallel=4 -S 1M -t ' ' -k4,4n -k2 lines.txt && recorded sort
# openssl speed prints times, so its outputs differ by nature: status and lines, and a digest that does not.
expect_status 0 profile -o t.profile -- openssl speed -seconds 1 -bytes 1024 sha256 >speed.txt 2>speed.err
grep -q sha256 speed.txt || fail "openssl speed: $(cat speed.txt speed.err)"
recorded openssl
same_as_without openssl dgst -sha512 lines.txt
check_db t.db
