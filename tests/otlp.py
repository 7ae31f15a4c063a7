#!/usr/bin/python3
"""otlp.py MODULES COMMAND: OpenTelemetry's profiles by a client that protoc made of tests/otlp.proto (MODULES has otlp_pb2.py).
make SEED FILE: one with everything in it, at random. show FILE: what it says, sorted, without indices. compare A B: exit 1 and the first
differences where they say different things."""
import collections, random, sys

sys.path.insert(0, sys.argv[1])
import otlp_pb2 as otlp

# ---- what a file says ----


def value_of(data, value):
    kind = value.WhichOneof("value")
    if kind is None:
        return "nothing"
    if kind == "string_value_strindex":
        return "text " + repr(data.dictionary.string_table[value.string_value_strindex])
    if kind == "string_value":
        return "text " + repr(value.string_value)
    if kind == "array_value":
        return "[" + ", ".join(value_of(data, one) for one in value.array_value.values) + "]"
    if kind == "kvlist_value":
        return "{" + ", ".join(key_value(data, one) for one in value.kvlist_value.values) + "}"
    return f"{kind} {getattr(value, kind)!r}"


def key_value(data, pair):
    key = data.dictionary.string_table[pair.key_strindex] if pair.key_strindex else pair.key
    return f"{key}={value_of(data, pair.value)}"


def attributes(data, indices):
    texts = data.dictionary.string_table
    found = [data.dictionary.attribute_table[index] for index in indices]
    return " ".join(sorted(f"{texts[one.key_strindex]}={value_of(data, one.value)}/{texts[one.unit_strindex]}" for one in found))


def frame(data, index):
    d, texts = data.dictionary, data.dictionary.string_table
    location = d.location_table[index]
    mapping = d.mapping_table[location.mapping_index]
    lines = []
    for line in location.lines:
        function = d.function_table[line.function_index]
        names = [texts[function.name_strindex], texts[function.system_name_strindex], texts[function.filename_strindex]]
        lines.append(f"{names} {function.start_line}:{line.line}:{line.column}")
    where = f"{texts[mapping.filename_strindex]} {mapping.memory_start:x}-{mapping.memory_limit:x}@{mapping.file_offset:x}"
    return f"<{location.address:x} {lines} ({attributes(data, location.attribute_indices)}) in {where} ({attributes(data, mapping.attribute_indices)})>"


def samples(data, profile):
    sums, times = collections.Counter(), collections.Counter()
    for sample in profile.samples:
        link = data.dictionary.link_table[sample.link_index]
        stack = " ".join(frame(data, index) for index in data.dictionary.stack_table[sample.stack_index].location_indices)
        key = f"{stack} {{{attributes(data, sample.attribute_indices)}}} {link.trace_id.hex()}/{link.span_id.hex()}"
        for i, time in enumerate(sample.timestamps_unix_nano):
            times[key, time] += sample.values[i] if sample.values else 1
        if not sample.timestamps_unix_nano:
            sums[key] += sum(sample.values)
    return sorted([f"{value}: {key}" for key, value in sums.items()] + [f"{value} at {time}: {key}" for (key, time), value in times.items()])


def named(data, type):
    return f"{data.dictionary.string_table[type.type_strindex]}/{data.dictionary.string_table[type.unit_strindex]}"


def show(data):
    lines = []
    for resource in data.resource_profiles:
        of = " ".join(sorted(key_value(data, pair) for pair in resource.resource.attributes))
        for scope in resource.scope_profiles:
            about = " ".join(sorted(key_value(data, pair) for pair in scope.scope.attributes))
            head = f"resource ({of}) {resource.resource.dropped_attributes_count} {resource.schema_url} scope {scope.scope.name} {scope.scope.version} ({about}) {scope.schema_url}"
            for profile in scope.profiles:
                own = f"{named(data, profile.sample_type)} {profile.time_unix_nano} {profile.duration_nano} {named(data, profile.period_type)} {profile.period} "
                own += f"{profile.profile_id.hex()} {profile.dropped_attributes_count} {profile.original_payload_format} {profile.original_payload.hex()} "
                own += f"({attributes(data, profile.attribute_indices)})"
                lines.append("\n  ".join([f"{head} profile {own}"] + samples(data, profile)))
    return sorted(lines)


# ---- one at random ----


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.data = otlp.ProfilesData()
        d = self.data.dictionary
        for table in (d.mapping_table, d.location_table, d.function_table, d.link_table, d.attribute_table, d.stack_table):
            table.add()
        d.string_table.append("")

    def text(self, text):
        table = self.data.dictionary.string_table
        if text not in table:
            table.append(text)
        return list(table).index(text)

    def word(self):
        return self.random.choice(["read", "write", "main", "größe", "a b", "x:int", "map<int, int>::at", "/usr/bin/server", "日本"])

    def any(self, value, depth=0):
        choice = self.random.randrange(9 if depth < 2 else 5)
        if choice == 0:
            value.string_value = self.random.choice(["", self.word()])
        elif choice == 1:
            value.bool_value = self.random.random() < 0.5
        elif choice == 2:
            value.int_value = self.random.choice([0, -1, 7, 2**63 - 1, -(2**63)])
        elif choice == 3:
            value.double_value = self.random.choice([0.0, -1.5, 1 / 3, 1e300, float("inf")])
        elif choice == 4:
            value.bytes_value = self.random.randbytes(3)
        elif choice == 5:
            value.string_value_strindex = self.text(self.word())
        elif choice == 6:
            value.array_value.SetInParent()
            for _ in range(self.random.randrange(4)):
                self.any(value.array_value.values.add(), depth + 1)
        elif choice == 7:
            value.kvlist_value.SetInParent()
            for _ in range(self.random.randrange(3)):
                pair = value.kvlist_value.values.add(key=self.word())
                self.any(pair.value, depth + 1)

    def attribute(self, key):
        one = otlp.KeyValueAndUnit(key_strindex=self.text(key), unit_strindex=self.text(self.random.choice(["", "", "By"])))
        self.any(one.value)
        table = self.data.dictionary.attribute_table
        table.append(one)
        return len(table) - 1

    def some_attributes(self):
        keys = ["thread.name", "cpu", "x:int", "y:otlp", "trace_id", "timestamp_unix_nano", "otlp.profile", "größe"]
        return [self.attribute(key) for key in self.random.sample(keys, self.random.randrange(4))]

    def plain_attributes(self):
        """As those of a profile.proto."""
        made = []
        for key in self.random.sample(["thread", "tid", "trace_id"], self.random.randrange(3)):
            one = otlp.KeyValueAndUnit(key_strindex=self.text(key))
            if key == "tid":
                one.value.int_value = self.random.randrange(100)
                one.unit_strindex = self.text("id")
            else:
                one.value.string_value = self.word()
            self.data.dictionary.attribute_table.append(one)
            made.append(len(self.data.dictionary.attribute_table) - 1)
        return made

    def names(self):
        d, pick = self.data.dictionary, self.random
        for i in range(3):
            mapping = d.mapping_table.add(memory_start=4096 * i, memory_limit=4096 * i + 4096, file_offset=i, filename_strindex=self.text(f"lib{i}.so"))
            build_id = otlp.KeyValueAndUnit(key_strindex=self.text("process.executable.build_id.gnu"))
            build_id.value.string_value = f"beef{i}"
            d.attribute_table.append(build_id)
            mapping.attribute_indices.extend([len(d.attribute_table) - 1, self.attribute("process.executable.build_id.htlhash")])
        for i in range(6):
            d.function_table.add(name_strindex=self.text(f"{self.word()} {i}"), system_name_strindex=self.text(f"_Z{i}"), filename_strindex=self.text(self.word()), start_line=i)
        for i in range(12):
            location = d.location_table.add(mapping_index=pick.randrange(4), address=pick.choice([0, 4096 + i]))
            for _ in range(pick.randrange(3) if location.address else 1):
                location.lines.add(function_index=1 + i % 6, line=i + 1, column=pick.randrange(3))
            if pick.random() < 0.7:
                location.attribute_indices.append(self.attribute("profile.frame.type"))
        for i in range(5):
            d.link_table.add(trace_id=pick.randbytes(16), span_id=pick.randbytes(8) if i else b"")
        for _ in range(8):
            d.stack_table.add(location_indices=[pick.randrange(1, 13) for _ in range(pick.randrange(5))])

    def head(self, profile):
        pick = self.random
        profile.time_unix_nano = pick.choice([1_700_000_000_000_000_000, 1_700_000_000_000_000_123])
        profile.duration_nano = pick.randrange(10**9)
        profile.period_type.type_strindex, profile.period_type.unit_strindex, profile.period = self.text("cpu"), self.text("nanoseconds"), 10_000_000
        profile.profile_id, profile.dropped_attributes_count = pick.randbytes(16), pick.randrange(3)
        if pick.random() < 0.3:
            profile.original_payload_format, profile.original_payload = "jfr", pick.randbytes(9)

    def profile(self, scope, type):
        pick = self.random
        profile = scope.profiles.add()
        self.head(profile)
        profile.sample_type.type_strindex, profile.sample_type.unit_strindex = (self.text(text) for text in type)
        profile.attribute_indices.extend(self.some_attributes())
        for _ in range(pick.randrange(12)):
            sample = profile.samples.add(stack_index=pick.randrange(9), link_index=pick.randrange(6), attribute_indices=self.some_attributes())
            shape = pick.randrange(3)
            if shape:
                sample.timestamps_unix_nano.extend(pick.sample(range(10**18, 10**18 + 100), pick.randrange(1, 4)))
            if shape != 1:
                sample.values.extend(pick.randrange(-5, 50) for _ in range(len(sample.timestamps_unix_nano) or 1))

    def group(self, scope, types):
        """Several that are one profile.proto."""
        first = None
        order = list(range(len(types)))
        self.random.shuffle(order)
        array = scope.scope.attributes.add(key="pprof.scope.sample_type_order").value.array_value
        for place in order:
            array.values.add(int_value=place)
            profile = scope.profiles.add()
            if first:
                profile.CopyFrom(first)
                profile.profile_id = self.random.randbytes(16)
            else:
                self.head(profile)
                for _ in range(6):
                    profile.samples.add(stack_index=self.random.randrange(9), link_index=self.random.randrange(6), attribute_indices=self.plain_attributes(), values=[0])
                first = profile
            profile.sample_type.type_strindex, profile.sample_type.unit_strindex = (self.text(text) for text in types[place])
            for sample in profile.samples:
                sample.values[0] = self.random.randrange(50)

    def make(self):
        pick = self.random
        self.names()
        types = [("samples", "count"), ("cpu", "nanoseconds"), ("inuse_space", "bytes"), ("alloc_space", "bytes"), ("wall", "seconds"), ("delay", "nanoseconds")]
        for i in range(pick.randrange(1, 4)):
            resource = self.data.resource_profiles.add(schema_url=pick.choice(["", "https://example.org/1"]))
            self.any(resource.resource.attributes.add(key="service.name").value)
            self.any(resource.resource.attributes.add(key_strindex=self.text("größe")).value)
            for j in range(pick.randrange(1, 3)):
                scope = resource.scope_profiles.add(schema_url=pick.choice(["", "https://example.org/2"]))
                scope.scope.name, scope.scope.version = f"profiler {i} {j}", "1.2"
                self.any(scope.scope.attributes.add(key="kind").value)
                if pick.random() < 0.3:
                    self.group(scope, [("contentions", "count"), ("delay", "nanoseconds")])
                else:
                    for _ in range(pick.randrange(1, 4)):
                        self.profile(scope, pick.choice(types))
        return self.data


def in_order(data):
    """The profiles of one profile.proto come back in the order of its sample types."""
    for resource in data.resource_profiles:
        for scope in resource.scope_profiles:
            for pair in scope.scope.attributes:
                if pair.key != "pprof.scope.sample_type_order":
                    continue
                places = [one.int_value for one in pair.value.array_value.values]
                profiles = [profile for _, profile in sorted(zip(places, list(scope.profiles)), key=lambda both: both[0])]
                copies = [otlp.Profile.FromString(profile.SerializeToString()) for profile in profiles]
                del scope.profiles[:]
                scope.profiles.extend(copies)
                for i, one in enumerate(pair.value.array_value.values):
                    one.int_value = i
    return data


def read(path):
    with open(path, "rb") as file:
        return in_order(otlp.ProfilesData.FromString(file.read()))


def compare(a, b):
    a, b = ("\n".join(show(read(path))).split("\n") for path in (a, b))
    left, right = collections.Counter(a), collections.Counter(b)
    if left == right:
        return 0
    print(f"{len(a)} and {len(b)} lines")
    for line in list((left - right).elements())[:3]:
        print("  - " + line[:1000])
    for line in list((right - left).elements())[:3]:
        print("  + " + line[:1000])
    return 1


if __name__ == "__main__":
    command, arguments = sys.argv[2], sys.argv[3:]
    if command == "make":
        with open(arguments[1], "wb") as out:
            out.write(Maker(int(arguments[0])).make().SerializeToString())
    elif command == "show":
        print("\n".join(show(read(arguments[0]))))
    else:
        sys.exit(compare(*arguments))
