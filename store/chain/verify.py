"""Verifies the hash chains of a database of hongbao. It shares no code with hongbao: see doc.go for the format.

    python3 verify.py hongbao.db [HEADS]
    python3 verify.py postgres://user@host/database [HEADS]

HEADS is a file with heads that were kept, each as chain/link/hash. It needs Python 3.8, and psql for Postgres.
It prints each difference, and exits with 1 if there is any.
"""
import hashlib, json, re, sqlite3, struct, subprocess, sys

# Columns of each chained table. hex:x is a column of bytes, json:x is a list.
TABLES = {
    "entry": ("link, e.room_id, e.seq, e.id, e.at, sender, kind, e.key, hex:r.hash, target, hex:name_seal, sender_name, sender_avatar,"
              " hex:text_seal, body", "entries e left join requests r on e.key <> '' and r.user_id = e.sender and r.key = e.key"),
    "packet": ("link, id, partition, room_id, sender, mode, spread, total, count, json:shares, json:recipients, hex:seed, commitment, key,"
               " seq, created_at, expires_at, hex:name_seal, sender_name, sender_avatar, hex:text_seal, greeting, passphrase,"
               " hex:encrypted_seed, held, held_until", "packets"),
    "claim": ("link, packet_id, share_no, user_id, amount, at, transfer", "claims"),
    "participant": ("link, packet_id, leaf, at", "participants"),
    "wave": ("link, packet_id, wave, drawn_at, participants, first_share, root, json:winners", "rain_waves"),
    "draw": ("draw_link, id, drawn_at, participants, parts, root", "packets where drawn_at > 0"),
    "transfer": ("link, id, at, debit, credit, amount, kind, user_id, key, hex:hash, note, actor, request_id, reason",
                 "transfers where kind in ('credit', 'debit')"),
}


def number(n):
    return struct.pack(">q", n)


def text(t):
    b = t if isinstance(t, bytes) else t.encode()
    return number(len(b)) + b


def digest(kind, *fields):
    """Hashes numbers, texts, bytes and lists. A hash is given as bytearray and stands for itself."""
    out = text(kind)
    for f in fields:
        if isinstance(f, int):
            out += number(f)
        elif isinstance(f, list):
            out += number(len(f)) + b"".join(number(i) if isinstance(i, int) else text(i) for i in f)
        else:
            out += bytes(f) if isinstance(f, bytearray) else text(f)
    return bytearray(hashlib.sha256(out).digest())


def sealed(seal, *texts):
    return bytearray(seal) if len(seal) == 32 else digest("hongbao/seal/1", seal, *texts)


def leaf(kind, row):
    if kind == "entry":
        row[9:] = [sealed(*row[9:12]), sealed(*row[12:14])]
    if kind == "wave":
        row[6:] = row[6]
    version = 1
    if kind == "packet":
        encrypted, *held = row[22:]
        if encrypted:
            version, row[8], row[10] = 2, [], encrypted
        row[16:] = [sealed(*row[16:19]), sealed(*row[19:22])] + (held if held[0] else [])
    return digest("hongbao/%s/%d" % (kind, version), *row)


def column(c, postgres):
    form, _, name = c.strip().rpartition(":")
    if form == "hex":
        return "encode(coalesce(%s, ''), 'hex')" % name if postgres else "lower(hex(coalesce(%s, '')))" % name
    if form == "json":
        return "array_to_json(%s)" % name if postgres else "json(%s)" % name
    return name


def read(source, columns, rest):
    """Yields rows, in Postgres by psql."""
    postgres, cs = "://" in source, columns.split(",")
    make = "json_build_array" if postgres else "json_array"
    query = "select %s(%s) from %s" % (make, ", ".join(column(c, postgres) for c in cs), rest)
    if postgres:
        lines = subprocess.run(["psql", source, "-XAtc", query], check=True, capture_output=True).stdout.decode().split("\n")[:-1]
    else:
        lines = [r[0] for r in sqlite3.connect("file:%s?mode=ro" % source, uri=True).execute(query)]
    for line in lines:
        yield [bytes.fromhex(v) if c.strip().startswith("hex:") else v for c, v in zip(cs, json.loads(line))]


def verify(source, saved):
    """Yields each difference."""
    leaves = {}
    for kind, (columns, rest) in TABLES.items():
        for link, *row in read(source, columns, rest):
            leaves.setdefault(link, []).append(bytes(leaf(kind, row)))
    heads, hashes = {}, {}
    for chain, link, prev, at, count, stored in read(source, "chain, id, prev, at, leaves, hex:hash", "links order by id"):
        before, rows = heads.get(chain, (0, bytearray(32))), sorted(leaves.pop(link, []))
        want = digest("hongbao/link/1", before[1], link, prev, at, len(rows), bytearray(hashlib.sha256(b"".join(rows)).digest()))
        if prev != before[0] or len(rows) != count or bytes(want) != stored or link % 2**20 != chain:
            yield "link %d of chain %d is not as it was written" % (link, chain)
        heads[chain] = (link, bytearray(stored))
        hashes[link] = stored.hex()
    for link, rows in leaves.items():
        yield "%d rows have the link %d, which does not exist" % (len(rows), link)
    for link, saved_hash in saved:
        if hashes.get(link) != saved_hash:
            yield "link %d is not the head that was kept" % link


if __name__ == "__main__":
    kept = open(sys.argv[2]).read() if len(sys.argv) > 2 else ""
    found = list(verify(sys.argv[1], [(int(l), h) for l, h in re.findall(r"\b\d+/(\d+)/([0-9a-f]{64})\b", kept)]))
    print("\n".join(found) or "the hash chains are right")
    sys.exit(1 if found else 0)
