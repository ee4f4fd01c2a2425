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


def shuffled(below, items):
    for i in range(len(items) - 1, 0, -1):
        j = below(i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def opens_of(seed, d):
    """Returns when the waves of a rain open, in milliseconds."""
    rain, cell, window = d["rain"], 3000, 2500
    below, slack = drawer(seed, lp("hongbao/rain/1", d["sender"], d["key"])), rain["over_s"] * 1000 - rain["waves"] * 3000
    need(1 <= rain["waves"] <= 10**6 and slack >= 0 and rain["over_s"] <= 10**6 and rain["max_wins"] >= 1 and d["count"] % rain["waves"] == 0, "form")
    offsets = sorted(below(slack + 1) for _ in range(rain["waves"]))
    return [rain["begin"] + offset + cell * i + cell - window for i, offset in enumerate(offsets)]


def check(d):
    seed, sender, key, count, rest, waves = bytes.fromhex(d["seed"]), d["sender"], d["key"], d["count"], d.get("rest", "refund"), d.get("waves", [])
    need(len(seed) == 32 and all(d[f] for f in ("packet", "sender", "key")) and 1 <= count <= 10**6, "form")
    rain, numbers = d.get("rain"), [w["wave"] for w in waves]
    need(rest in ("refund", "share") and (rest == "refund" or waves and not rain), "form")
    opens = opens_of(seed, d) if rain else []
    need(numbers == list(range(1, len(waves) + 1)) and len(waves) <= rain["waves"] if rain else numbers in ([], [0]), "form")
    need(sha(seed).hex() == d["commitment"], "commitment")
    shares = shares_of(seed, d, min(count, waves[0]["entries"]) if rest == "share" else count)
    need(d.get("shares", shares) == shares, "shares")
    first, wins = 0, {}  # the first share that is left, and how often each user has won
    for w in waves:
        need(not rain or w["opens"] == opens[w["wave"] - 1], "instant")
        leaves, winners = [bytes.fromhex(leaf) for leaf in w.get("leaves", [])], w["winners"]
        need(len(leaves) == w["entries"] and all(len(leaf) == 32 for leaf in leaves), "leaves")
        need(all(a < b for a, b in zip(leaves, leaves[1:])) and root_of(leaves).hex() == w["root"], "root")
        k = hmac.digest(seed, lp("hongbao/window/2", sender, key, w["wave"]), "sha256")
        order = sorted(leaves, key=lambda leaf: hmac.digest(k, leaf, "sha256"))
        passed = {sha(lp("hongbao/entry/2", sender, key, w["wave"], user)) for user in wins if rain and wins[user] >= rain["max_wins"]}
        free = (count // rain["waves"] * w["wave"] if rain else count) - first
        drawn = [leaf.hex() for leaf in order if leaf not in passed][:free]
        need([winner["leaf"] for winner in winners] == drawn, "winners: the first of the order are others")
        for place, winner in enumerate(winners):
            need((winner["rank"], winner["amount"]) == (first + place + 1, shares[first + place]), "winners: share %d" % (first + place + 1))
            user = winner.get("user")  # a user that was erased has no name
            need(not user or sha(lp("hongbao/entry/2", sender, key, w["wave"], user)).hex() == winner["leaf"], "winners: the leaf of %s" % user)
            wins[user] = wins.get(user, 0) + 1
        first += len(winners)


try:
    check(json.load(sys.stdin))
except (KeyError, TypeError, ValueError) as error:
    need(False, "form: %r" % error)
print("OK")
