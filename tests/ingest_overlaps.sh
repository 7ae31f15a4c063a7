# An old heap profile whose mappings overlap by the thousand: an address belongs to the first mapping of the file that holds
# it, as a comparison with each of them finds.
. "$(dirname "$0")/lib.sh"

python3 - <<'PY' || fail "the profile"
import random
random.seed(5)
base, count = 0x7F0000000000, 2000
addresses = sorted({base + random.randrange(count * 0x800) for _ in range(3000)})
mappings = []
for i in range(count):
    start = base + random.randrange(count) * 0x800
    mappings.append((start, start + random.randrange(1, 9) * 0x300, f"/lib/l{i}.so"))
mappings[7] = (base, base + count * 0x400, "/lib/l7.so")       # around many others
mappings[8] = (base + 0x5000, base + 0x4000, "/lib/l8.so")     # ends before it begins
with open("overlaps.heap", "w") as out:
    out.write("heap profile: %d: %d [%d: %d] @ heapprofile\n" % ((len(addresses),) * 4))
    out.writelines("1: 1 [1: 1] @ 0x%x\n" % address for address in addresses)
    out.write("\nMAPPED_LIBRARIES:\n")
    out.writelines("%x-%x r-xp 00000000 08:01 %d %s\n" % (start, end, i + 1, name) for i, (start, end, name) in enumerate(mappings))
with open("want.txt", "w") as out:
    for address in addresses:
        called = address - 1                                   # the file has return addresses
        name = next((name for start, end, name in mappings if start <= called < end), "")
        out.write("%d|%s\n" % (called, name))
PY
"$CLEAR" ingest -q --db t.db overlaps.heap || fail ingest
sql t.db "SELECT address, coalesce(filename, '') FROM locations LEFT JOIN mappings ON mappings.id = mapping_id WHERE address <> 0 ORDER BY 1" >got.txt
[ "$(grep -c 'l7.so$' want.txt)" -gt 500 ] || fail "mapping 7 holds too little to say anything"
expect_same_file got.txt want.txt "which mapping holds which address"
