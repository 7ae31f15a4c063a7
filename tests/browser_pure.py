"""The modules that do not touch the page (state, keys, format, palette, layout, tree, graph_layout, sql_text), run in the browser: browser_pure.py.

Figures are compared with what clear itself prints, trees with sums made here."""
import json
import math
import os
import random
import re
import urllib.request

from browser import Page, Server, clear, clear_json, fetched, sources


def try_ticks(page):
    """Axes have round numbers, of bytes powers of two apart; of points that are too close each pixel has the least, the middle and the most."""
    axis = lambda most, unit: page.import_module("charts/chart.js", "return import('/web/names/format.js').then(f => m.ticks(0, given[0], given[1]).map(one => f.tick(one, given[1])))", most, unit)
    assert axis(5_200_000, "bytes") == ["0 B", "1 MiB", "2 MiB", "3 MiB", "4 MiB", "5 MiB"], axis(5_200_000, "bytes")
    assert axis(1_300_000, "bytes") == ["0 B", "256 KiB", "512 KiB", "768 KiB", "1 MiB", "1.25 MiB"], axis(1_300_000, "bytes")
    assert axis(9, "bytes")[:3] == ["0 B", "2 B", "4 B"] and axis(900, "count") == ["0", "200", "400", "600", "800", "1,000"] and axis(3e9, "nanoseconds")[:2] == ["0 ns", "1 s"]
    rows = page.import_module("charts/chart.js", "return m.columns([5, 1, 9, NaN, 2, 4].map(y => ({ y })), i => i < 4 ? 10.2 : 11)")
    assert rows == [{"x": 10, "least": 1, "middle": 5, "most": 9}, {"x": 11, "least": 2, "middle": 3, "most": 4}], rows


def try_state(page):
    given = {"runs": "tag:branch=main,last=20", "base": "a b&c", "kind": "cpu", "f": "^a+b|c%$", "pivot": "é\u202e", "zoom": "12~", "sql": "SELECT 'x;#?' -- é\n", "page": "sql", "n": "5"}
    url = page.import_module("state/state.js", "return m.format({ ...m.empty(), ...arguments[0] })".replace("arguments[0]", "given[0]"), given)
    back = page.import_module("state/state.js", "const u = new URL(given[0], location.origin); return m.parse(u.search, u.hash)", url)
    assert {name: value for name, value in back.items() if value} == given, back
    assert page.import_module("state/state.js", "return m.format(m.empty())") == "/"
    names = page.import_module("state/state.js", "return [...m.SELECTION, ...m.FILTERS.map(one => one[0])]")
    every = {name: f"{name} é&=#" for name in names}
    back = page.import_module("state/state.js", "return m.parse(m.format({ ...m.empty(), ...given[0] }).slice(1))", every)
    assert {name: value for name, value in back.items() if value} == every and len(every) > 20
    assert page.import_module("state/state.js", "return m.format(m.parse('?' + 'page=nonsense&unknown=1&runs=x'))") == "/?runs=x"
    for search, page_name in [("", "runs"), ("?runs=x", "overview"), ("?runs=x&base=y&from=1s", "overview"), ("?runs=x&kind=cpu", "flame"), ("?runs=x&inverted=1", "flame"), ("?runs=x&page=top", "top")]:
        assert page.import_module("state/state.js", "return m.page(m.parse(given[0]))", search) == page_name
    # Every option that a request may have is in the command line that the page gives, and takes the form that the command reads.
    words = page.import_module("state/state.js", "return m.command(m.parse('?page=top&runs=x&f=y&g=lines&noinlines=1&rel=1&norm=0&nf=0.1&si=samples'))")
    assert words == "clear report top --sample_index samples --lines --noinlines --nodefraction 0.1 --relative_percentages --focus y x", words
    for search, line in [("page=doctor&runs=x&from=1s&to=2s&f=a b&n=3", "clear doctor --from 1s --to 2s --focus 'a b' x"), ("page=overview&window=2&f=y", "clear doctor --window 2 latest")]:
        assert page.import_module("state/state.js", "return m.command(m.parse('?' + given[0]))", search) == line
    # clear.yaml can keep each of them.
    rows = page.import_module("state/options.js", "return m.REPORT")
    with open("every.yaml", "w", encoding="utf-8") as file:
        file.writelines(["filters:\n"] + [f"  {parameter}: {{{choices and 'granularity' or option}: {'true' if kind == 'switch' else '1'}}}\n" for parameter, option, kind, _, choices in rows])
    with Server("t.db", "--config=every.yaml") as server:
        shared = json.load(urllib.request.urlopen(server.url + "/api/server"))["filters"]
    assert shared == [{"name": row[0], "filters": {row[0]: "1"}} for row in rows] and len(rows) > 20, shared
    assert page.import_module("state/state.js", "return m.addFilter(m.addFilter(m.empty(), 'i', 'a'), 'i', 'b').i") == "a|b"
    assert page.import_module("state/state.js", "return m.query(m.parse('?runs=x&zoom=3&f=y&q=z'), { width: 5, none: '' })") == "runs=x&f=y&width=5"
    # A name as a pattern matches itself and nothing else, also for the regular expressions of clear.
    for name in ["operator()(int*)[2]", "a+b", "std::map<int, x>::operator[]", "$\\^|{}."]:
        pattern = page.import_module("state/state.js", "return m.quote(given[0])", name)
        assert re.fullmatch(pattern[1:-1], name) and page.import_module("state/state.js", "return new RegExp(m.quote(given[0]), 'u').test(given[0])", name)


def try_format(page):
    """Sizes and times as `clear runs` prints them, from the same numbers."""
    lines = clear("query", "--human", "--no-header", "WITH v(n) AS (VALUES (0), (1), (999), (1000), (1023), (1024), (1048523), (1048576), (123456789), (999949999), (59999999999), (61000000000), (7500000000000), (200000000000000)) SELECT n AS a_bytes, n AS b_ns FROM v")
    shown = [re.split(r"\s{2,}", line.strip()) for line in lines.strip().splitlines()]
    numbers = [0, 1, 999, 1000, 1023, 1024, 1048523, 1048576, 123456789, 999949999, 59999999999, 61000000000, 7500000000000, 200000000000000]
    got = page.import_module("names/format.js", "return given[0].map(n => [m.bytes(n), m.nanoseconds(n)])", numbers)
    assert got == shown, (got, shown)
    assert page.import_module("names/format.js", "return [m.count(-1234567), m.percent(1, 3), m.percent(1, 0), m.value(3, 'seconds')]") == ["-1,234,567", "33.3%", "", "3.0 s"]
    # What could dress a name up is made visible.
    changes = [[0.4, 0], [0.44, 1], [-50, 0], [899, 0], [900, 0], [1150, 0], [219999900, 0], [1e12, 0], [None, 0], [0, 2]]
    assert page.import_module("names/format.js", "return given[0].map(([percents, digits]) => m.relative(percents, digits))", changes) == ["+0%", "+0.4%", "-50%", "+899%", "× 10", "× 12.5", "> × 10⁶", "> × 10⁶", "from 0", "0%"]
    described = "return given[0].map(([base, value]) => m.describe({ unit: 'count', is_diff: true }, { node: { base, value } }))"
    assert page.import_module("charts/flame_words.js", described, [[1000, 6000], [1000, 60000], [1000, 500], [0, 5]]) == [
        "1,000 before, 6,000 after: +5,000 (+500%)", "1,000 before, 60,000 after: +59,000 (× 60)", "1,000 before, 500 after: -500 (-50%)", "0 before, 5 after: +5, new"]
    assert page.import_module("names/format.js", "return m.text('a\\u202eb\\nc\\u0007')") == "a\\u202eb\\u000ac\\u0007"


def try_names(page):
    """Names as tests/names.txt has them, which the rules in C are held against too."""
    with open(f"{os.environ['ROOT']}/tests/names.txt") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    assert len(rows) >= 400
    got = page.import_module("names/names.js", "return given[0].map(name => [name, m.usual(name), m.short(name)])", [row[0] for row in rows])
    wrong = [(want, have) for want, have in zip(rows, got) if want != have]
    assert not wrong, wrong[:5]
    # No two different names of a list look alike; the others keep their usual name.
    shown = page.import_module("names/names.js", "return [...m.apart(given[0])]", [row[0] for row in rows])
    assert len({look for _, look in shown}) == len({row[0] for row in rows}), len(shown)
    assert sum(look == usual for (_, look), (_, usual, _) in zip(shown, rows)) > len(rows) / 2
    pairs = page.import_module("names/names.js", "return [...m.apart(given[0])]", ["std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int const&)", "std::map<int, A>::find", "std::map<int, B>::find", "work.isra.0", "work", "java.util.List.add", "shop.cart.List.add", "main", "main"])
    assert [look for _, look in pairs] == ["std::vector<…>::push_back(int&&)", "std::vector<…>::push_back(int const&)", "std::map<int, A>::find", "std::map<int, B>::find", "work.isra.0", "work", "java.util.List.add", "shop.cart.List.add", "main"], pairs
    # What is broken or nested too deep stays as it is.
    broken = ["", " ", "(", ")", "<", ">", "a)", "f(", "f<)>", "operator", "::", "a::", "{", "(*x)(", "f" + "<" * 1999, "f" + "<" * 999 + ">" * 1000]
    assert page.import_module("names/names.js", "return given[0].map(m.usual)", broken) == broken
    # In a box where there is room for so many letters: parts go from the front, then the last one is cut on the right.
    fitted = [
        ("compress/gzip.(*Writer).Write", 24, "gzip.(*Writer).Write"), ("compress/gzip.(*Writer).Write", 16, "(*Writer).Write"),
        ("compress/gzip.(*Writer).Write", 6, "Write"), ("compress/gzip.(*Writer).Write", 4, "Wri…"), ("main.main.func1", 12, "main.func1"),
        ("std::vector<std::pair<int, char> >::emplace_back<int, char>(int&&, char&&)", 40, "std::vector<…>::emplace_back"),
        ("std::vector<std::pair<int, char> >::emplace_back<int, char>(int&&, char&&)", 26, "vector<…>::emplace_back"),
        ("std::vector<std::pair<int, char> >::emplace_back<int, char>(int&&, char&&)", 13, "emplace_back"),
        ("ShardedLruCache<Key, Value>::get_or_load(Key const&) const", 32, "ShardedLruCache<…>::get_or_load"),
        ("ShardedLruCache<Key, Value>::get_or_load(Key const&) const", 30, "get_or_load"), ("handle", 4, "han…"), ("handle", 2, ""),
        ("(anonymous namespace)::Table::find(int)", 12, "Table::find"), ("std::operator<< <char>(std::ostream&, char const*)", 14, "operator<<"),
        ("Work::operator()(int) const", 18, "Work::operator()"), ("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", 8, "extend"),
        ("com.example.Server.handle(int)", 14, "Server.handle"), ("libz.so.1+0x4970", 40, "libz.so.1+0x4970"), ("__x64_sys_read", 20, "__x64_sys_read"),
    ]
    drawn = page.import_module("names/names.js", "return given[0].map(([name, w]) => m.fit(name, w, t => t.length))", [name[:2] for name in fitted])
    assert drawn == [name[2] for name in fitted], list(zip(fitted, drawn))


def try_evidence(page):
    """A finding is called as clear doctor calls it."""
    findings = [{"subject": "std::vector<int>::push_back(int&&)"}, {"subject": "lock@0x10 main"},
                {"subject": "re_compile", "own_function": "shop::Table<int>::match(char const*)", "own_file": "/srv/shop/app.cc", "own_line": 8},
                {"subject": "strlen", "own_function": "main", "own_file": "", "own_line": 0},
                {"subject": "libdb.so:pages", "own_function": "save", "own_file": "/srv/app.cc", "own_line": 8, "own_callee": "db_put"}]
    assert page.import_module("pages/evidence.js", "return given[0].map(m.nameOf)", findings) == [
        "std::vector<…>::push_back", "lock@0x10 main", "shop::Table<…>::match (app.cc:8) in re_compile", "main in strlen",
        "libdb.so:pages, used by save (app.cc:8) in db_put"]


def luminance(colour):
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


EYES = (((1, 0, 0), (0, 1, 0), (0, 0, 1)),  # usual; then Machado, Oliveira and Fernandes 2009, severity 1.0
        ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
        ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
        ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)))


def appearances(pixel):
    """CIELAB of a colour for each of the EYES."""
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in (part / 255 for part in pixel)]
    out = []
    for eye in EYES:
        r, g, b = (min(1, max(0, sum(factor * part for factor, part in zip(row, linear)))) for row in eye)
        x, y, z = ((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
        fx, fy, fz = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (x, y, z))
        out.append((116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)))
    return out


def try_palette(page):
    """Texts can be read on every colour: a contrast of 4.5 and more, measured on the pixels that the browser makes of them."""
    pairs = page.import_module("charts/palette.js", """
        const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
        const pixel = colour => { context.fillStyle = '#000'; context.fillStyle = colour; context.fillRect(0, 0, 1, 1); return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3); };
        const out = [];
        for (const dark of [false, true]) {
          const ink = pixel(m.ink(dark)), add = colour => out.push([ink, pixel(colour), colour]);
          for (let i = 0; i < 400; i++) add(m.nameColour('name' + i + '::f' + i * 7, dark));
          for (const scale of Object.keys(m.SCALES)) for (let share = -1; share <= 1; share += 0.05) add(m.changeColour(share, dark, scale));
          for (let i = 0; i < 12; i++) add(m.twelve(i, dark));
          add(m.changeColour(NaN, dark)); add(m.matchColour(dark)); add(m.restColour(dark));
        }
        return out;""")
    assert len(pairs) > 900
    for ink, colour, name in pairs:
        assert contrast(ink, colour) >= 4.5, (name, contrast(ink, colour))
    for dark in (False, True):  # the twelve colours of modules, as usual, protan, deutan and tritan eyes see them
        seen = [appearances(page.import_module("charts/palette.js", """
            const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
            context.fillStyle = m.twelve(given[0], given[1]); context.fillRect(0, 0, 1, 1);
            return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);""", index, dark)) for index in range(12)]
        nearest = min(min(math.dist(a, b) for a, b in zip(seen[i], seen[j])) for i in range(12) for j in range(i))
        assert nearest >= 11, (dark, nearest)
    assert page.import_module("charts/palette.js", "return m.nameColour('a::b', false) === m.nameColour('a::b', false) && m.share(0, 5) === 1 && m.share(5, 0) === -1 && Number.isNaN(m.share(1, 2, true))")


def try_keys(page):
    of = "return m.action({ key: given[0], shiftKey: Boolean(given[1]), ctrlKey: Boolean(given[2]) }, given[3], Boolean(given[4]))"
    for key, shift, control, part, in_text, want in [
            ("/", 0, 0, "flame", 0, "search"), ("Enter", 1, 0, "flame", 0, "previous"), ("f", 0, 1, "flame", 0, None), ("f", 0, 0, "flame", 1, None), ("Escape", 0, 0, "table", 1, "escape"),
            ("0", 0, 0, "flame", 0, "reset"), ("=", 0, 0, "flame", 0, "in"), ("r", 0, 0, "table", 0, None), ("?", 1, 0, "none", 0, "help")]:
        assert page.import_module("state/keys.js", of, key, shift, control, part, in_text) == want, key
    letters = page.import_module("state/keys.js", "return Object.values(m.PLACES)")
    assert len(letters) == len(set(letters))


def random_answer(seed):
    """An answer of /api/tree with recursion and hidden parts, and the stacks it stands for."""
    rng = random.Random(seed)
    names = ["root", "a", "b", "c", "d", "e"]
    nodes = {key: [] for key in ("id", "parent", "name", "value", "self", "hidden_count", "hidden_value")}

    def grow(parent, name, depth):
        at = len(nodes["id"])
        for key in nodes:
            nodes[key].append(0)
        own, hidden = rng.randrange(10), rng.choice([0, 0, 3])
        total = own + hidden
        if depth < 7:
            for child in rng.sample(range(1, 6), rng.randrange(0, 4)):
                total += grow(at, child, depth + 1)
        for key, value in {"id": at + 1, "parent": parent, "name": name, "value": total, "self": own, "hidden_count": 2 if hidden else 0, "hidden_value": hidden}.items():
            nodes[key][at] = value
        return total

    grow(0, 0, 0)
    return {"names": names, "places": [""] * 6, "nodes": nodes}


def expected_sum(answer, name):
    """The sum of what is below the outermost nodes of that name."""
    nodes, best = answer["nodes"], 0
    for at in range(len(nodes["id"])):
        if answer["names"][nodes["name"][at]] != name or not at:
            continue
        above, is_inner = nodes["parent"][at], False
        while above:
            is_inner = is_inner or answer["names"][nodes["name"][above]] == name
            above = nodes["parent"][above]
        best += 0 if is_inner else nodes["value"][at]
    return best


def try_trees(page):
    for seed in range(6):
        answer = random_answer(seed)
        got = page.import_module("charts/tree.js", """
            const root = m.decode(given[0]), folded = m.fold(root), all = [folded], sums = {};
            for (const name of 'abcde') sums[name] = [m.search(root, new RegExp('^' + name + '$')).sum, m.search(folded, new RegExp('^' + name + '$')).sum];
            let repeats = 0, wrong = 0;
            for (let i = 0; i < all.length; i++) {
              all.push(...all[i].children);
              const names = m.path(all[i]).slice(1).map(one => one.name);
              if (new Set(names).size !== names.length) repeats++;
              const below = all[i].children.reduce((sum, one) => sum + one.value, all[i].self + all[i].hiddenValue);
              if (below !== all[i].value) wrong++;
            }
            return { sums, repeats, wrong, total: [root.value, folded.value] };""", answer)
        for name in "abcde":
            assert got["sums"][name] == [expected_sum(answer, name)] * 2, (seed, name, got["sums"][name])
        assert got["repeats"] == 0 and got["wrong"] == 0 and got["total"] == [answer["nodes"]["value"][0]] * 2, (seed, got)


def try_layout(page):
    """Boxes of a row do not overlap, a child stands within its parent, and what has no box is counted in the box of the rest."""
    for seed in range(4):
        trouble = page.import_module("charts/tree.js", """
            return import('/web/charts/layout.js').then(l => {
              const root = m.decode(given[0]), said = [];
              for (const width of [300, 1000]) {
                const list = l.boxes(root, width), byRow = l.index(list);
                for (const row of byRow) for (let i = 1; i < row.length; i++) if (row[i].x < row[i - 1].x + row[i - 1].width - 0.01) said.push('overlap');
                for (const box of list) {
                  if (l.hit(byRow, box.row, box.x + box.width / 2) !== box) said.push('hit');
                  if (box.row && !list.some(up => up.row === box.row - 1 && up.x <= box.x + 0.01 && up.x + up.width >= box.x + box.width - 0.01)) said.push('outside');
                  if (box.rest || box.isCaller) continue;
                  const drawn = list.filter(one => one.row === box.row + 1 && !one.rest && one.node.parent === box.node).reduce((sum, one) => sum + one.node.value, 0);
                  const rest = list.find(one => one.rest && one.node === box.node), narrow = box.node.value - box.node.self - drawn;
                  if (Math.abs((rest ? rest.rest.value : 0) - narrow) > narrow * (rest ? 0 : 1)) said.push('rest');
                }
              }
              return said;
            });""", random_answer(seed))
        assert trouble == [], (seed, trouble)
    got = page.import_module("charts/graph_layout.js", """
        const edges = [[0, 1], [0, 2], [1, 3], [2, 3], [3, 0], [3, 3]].map(([from, to]) => ({ from, to, weight: 1 }));
        return m.layered([0, 1, 2, 3].map(i => ({ name: 'f' + i, cum: 9 - i })), edges).boxes.map(box => box.y)""")
    assert got[0] < got[1] == got[2] < got[3], got


def try_sql_text(page):
    sql = "SELECT 'it''s', \"q\" -- c\nFROM runs AS r /* x"
    assert page.import_module("sql/sql_text.js", "return m.tokens(given[0]).map(token => token[1]).join('')", sql) == sql
    kinds = page.import_module("sql/sql_text.js", "return m.tokens(given[0]).filter(token => token[0]).map(token => token[0])", sql)
    assert kinds == ["keyword", "string", "name", "comment", "keyword", "keyword", "comment"], kinds
    schema = [{"name": "runs", "type": "table", "comment": "", "columns": [{"name": "label", "unit": "text", "comment": ""}, {"name": "uuid", "unit": "", "comment": ""}]}]
    offered = "const cut = given[0].indexOf('|'), s = given[0].replace('|', ''); return m.complete(s, cut, given[1]).items.map(item => item.text)"
    assert page.import_module("sql/sql_text.js", offered, "SELECT r.| FROM runs r", schema) == ["label", "uuid"]
    assert page.import_module("sql/sql_text.js", offered, "SELECT 1 FROM ru|", schema) == ["runs"]
    assert page.import_module("sql/sql_text.js", offered, "SELECT 'ru|'", schema) == []
    assert page.import_module("sql/sql_text.js", "return m.shapeOf(['run_id', 'cpu_ns'], [[1, 5], [2, 7]])")["values"] == [1]


def try_changed(page):
    """What changed by more than the noise: functions with their callers, and the whole with what all of it goes through."""
    got = page.import_module("charts/tree.js", """const node = (name, value, ...children) => ({ name, value, base: value / 2, children });
      const look = (names, isWhole) => { const root = node('all', 100, node('main', 100, node('a', 60), node('b', 40, node('c', 40)))), out = [];
        m.markChanged([root], new Set(names), isWhole);
        for (const open = [root]; open.length;) { const one = open.shift(); open.push(...one.children); if (one.isChanged) out.push(one.name); }
        return out; };
      return [look(['c']), look([]), look([], true), look(['a'], true)];""")
    assert got == [["all", "main", "b", "c"], [], ["all", "main"], ["all", "main", "a"]], got


def main():
    with open("one.folded", "w", encoding="utf-8") as file:
        file.write("main;work 5\n")
    clear("ingest", "--label", "one", "one.folded")
    assert len(clear_json("runs", "--json")) == 1
    with Server("t.db") as server, Page(server) as page:
        assert 200_000 < fetched(server) < 300 * 1024, fetched(server)  # as docs/browser.md says
        # serve/page/bundle.c exports one name a line.
        assert not [line for path in sources() for line in open(path, encoding="utf-8") if re.match(r"export const \w+ = [^{(\[]*, \w+ =", line)]
        lines = {path: sum(1 for _ in open(path, encoding="utf-8")) for path in sources()}
        assert max(lines.values()) <= 300, [path for path, count in lines.items() if count > 300]
        page.go("/")
        for part in (try_ticks, try_state, try_format, try_names, try_evidence, try_palette, try_keys, try_trees, try_changed, try_layout, try_sql_text):
            part(page)


main()
