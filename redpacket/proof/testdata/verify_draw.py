"""Checks the proof of a packet, as web/docs/protocol/proof.md describes it. It shares no code with hongbao.

    python3 verify_draw.py < proof.json

It prints OK, or the first fault and exits with 1. It needs Python 3.8. It does not check signatures of receipts.
"""
import hashlib, hmac, json, struct, sys


def need(holds, fault):
    if not holds:
        print(fault)
        sys.exit(1)


def sha(data):
    return hashlib.sha256(data).digest()


def lp(*fields):
    """Writes each field behind its length. A number has four bytes."""
    raw = [struct.pack(">I", f) if isinstance(f, int) else f.encode() if isinstance(f, str) else f for f in fields]
    return b"".join(struct.pack(">I", len(f)) + f for f in raw)


def root_of(leaves):
    if len(leaves) < 2:
        return sha(b"\0" + leaves[0]) if leaves else sha(b"")
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return sha(b"\1" + root_of(leaves[:half]) + root_of(leaves[half:]))


def drawer(seed, prefix):
    """Returns below(n), which draws a number from 0 to n - 1."""
    def words(block=0):
        while True:
            yield from struct.unpack(">4Q", hmac.digest(seed, prefix + str(block).encode(), "sha256"))
            block += 1
    stream = words()
    return lambda n: next(w for w in stream if w < 2**64 - 2**64 % n) % n


def points(below, n, count):
    drawn = set()
    while len(drawn) < count:
        drawn.add(below(n))
    return sorted(drawn)


def shares_of(seed, d, parts):
    if parts == 0:
        return []
    mode, spread, left = d["mode"], d.get("spread", ""), d["total"]
    need(left >= parts and (mode, spread) in [("equal", ""), ("lucky", "calm"), ("lucky", "classic"), ("lucky", "wild")], "terms")
    below = drawer(seed, "\n".join(map(str, ["hongbao/1", d["sender"], d["key"], mode, spread, left, parts, ""])).encode())
    if spread == "wild":
        cuts = [0] + [1 + p for p in points(below, left - 1, parts - 1)] + [left]
        return [b - a for a, b in zip(cuts, cuts[1:])]
    shares = [left // parts + (i < left % parts) for i in range(parts)] if mode == "equal" else []
    for k in range(parts, 1, -1) if mode == "lucky" else []:
        lo, hi = (1, 2 * left // k - 1) if spread == "classic" else (max(1, left // (2 * k)), 3 * left // (2 * k))
        hi = min(max(1, hi), left - k + 1)
        lo = min(lo, hi)
        shares.append(lo + below(hi - lo + 1))
        left -= shares[-1]
    return shuffled(below, shares + [left] * (mode == "lucky"))


def shuffled(below, items, stop=1):
    for i in range(len(items) - 1, stop - 1, -1):
        j = below(i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def check(d):
    seed, rain, waves, count = bytes.fromhex(d["seed"]), d.get("rain"), d.get("waves", []), d["count"]
    packet, held, rest, n = d["packet"], d.get("held", []), d.get("rest", "refund"), rain["waves"] if rain else 1
    need(len(seed) == 32 and all(d[f] for f in ("packet", "sender", "key")) and 1 <= count * n <= 10**6, "form")
    need(rest in ("refund", "share") and (rest == "refund" or waves and not rain) and not (held and waves), "form")
    need([w["wave"] for w in waves] == (list(range(1, n + 1)) if rain else [0] * min(1, len(waves))), "form")
    need(sha(seed).hex() == d["commitment"], "commitment")
    shares = shares_of(seed, d, min(count, waves[0]["entries"]) if rest == "share" else count * n)
    need(d.get("shares", shares) == shares, "shares")
    need(held == sorted(shuffled(drawer(seed, lp("hongbao/hold/1", d["sender"], d["key"], count, len(held))), list(range(1, count + 1)),
                                 max(0, count - len(held)))[count - len(held):] if held else []), "held")
    if rain:
        ms = rain["duration_ms"]
        need(1 <= ms < 2**32 and ms - 1999 * (n - 1) >= n, "offsets")
        drawn = points(drawer(seed, lp("hongbao/rain/1", d["sender"], d["key"], n, ms)), ms - 1999 * (n - 1), n)
        need([w.get("offset_ms", 0) for w in waves] == [p + 1999 * i for i, p in enumerate(drawn)], "offsets")
    won, ranks, limit = {}, [], rain and rain["max_wins"]
    for w in waves:
        leaves, no, users = [bytes.fromhex(leaf) for leaf in w.get("leaves", [])], w["wave"], set()
        need(len(leaves) == w["entries"] and all(len(leaf) == 32 for leaf in leaves), "leaves of wave %d" % no)
        need(all(a < b for a, b in zip(leaves, leaves[1:])) and root_of(leaves).hex() == w["root"], "root of wave %d" % no)
        key, start = hmac.digest(seed, lp("hongbao/window/1", packet, no, bytes.fromhex(w["root"])), "sha256"), max(0, no - 1) * count
        ranks, winners, passed = list(range(start + 1, start + count + 1)) + ranks, w["winners"][:], w.get("passed", [])[:]
        for leaf in sorted(leaves, key=lambda leaf: (hmac.digest(key, leaf, "sha256"), leaf)):
            if not ranks:
                break
            over = bool(rain and passed and passed[0]["leaf"] == leaf.hex())
            need(over or winners and winners[0]["leaf"] == leaf.hex(), "winners of wave %d: %s comes first" % (no, leaf.hex()))
            p = passed.pop(0) if over else winners.pop(0)
            user, nonce = p.get("user"), bytes.fromhex(p.get("nonce", ""))
            need(not user or len(nonce) == 16 and sha(lp("hongbao/entry/1", packet, no, user, nonce)) == leaf, "leaf of %s" % user)
            need(not user or user not in users and bool(limit and won.get(user, 0) >= limit) == over, "winners: user %s" % user)
            users.add(user)
            if not over:
                need((p["rank"], p["amount"]) == (ranks[0], shares[ranks[0] - 1]), "winners: share %d" % ranks[0])
                won[user] = won.get(user, 0) + 1
                ranks.pop(0)
        need(not winners and not passed, "winners of wave %d: too many" % no)


try:
    check(json.load(sys.stdin))
except (KeyError, TypeError, ValueError) as error:
    need(False, "form: %r" % error)
print("OK")
