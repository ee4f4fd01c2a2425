"""Writes draw.json: draws as web/docs/protocol/proof.md defines them. It shares no code with hongbao, and none with verify_draw.py.

    python3 make_draw.py > draw.json
"""
import hashlib
import hmac
import json


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def lp(*texts):
    return b"".join(len(text).to_bytes(4, "big") + text for text in texts)


def tree(leaves, path_of):
    """Returns the root of RFC 6962 (2.1), and the path from the leaf with this index, the lowest node first (2.1.1)."""
    if not leaves:
        return sha256(), []
    if len(leaves) == 1:
        return sha256(b"\x00", leaves[0]), []
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    left, path = tree(leaves[:k], path_of)
    right, other = tree(leaves[k:], path_of - k)
    return sha256(b"\x01", left, right), path + [right] if path_of < k else other + [left]


def draw(seed, sender, key, wave, users, count, index):
    name = [sender.encode(), key.encode(), wave.to_bytes(4, "big")]
    leaf = {user: sha256(lp(b"hongbao/entry/2", *name, user.encode())) for user in users}
    user_of = {leaf[user]: user for user in users}
    root, path = tree(sorted(user_of), index)
    k = hmac.new(seed, lp(b"hongbao/window/2", *name), "sha256").digest()
    order = sorted(users, key=lambda user: hmac.new(k, leaf[user], "sha256").digest())
    return {
        "seed": seed.hex(), "sender": sender, "key": key, "wave": wave,
        "entries": [{"user": user, "leaf": leaf[user].hex()} for user in users],
        "root": root.hex(), "order": order, "count": count, "winners": order[:count],
        "inclusion": {"user": user_of[sorted(user_of)[index]], "index": index, "path": [node.hex() for node in path]},
    }


def seed(number):
    return bytes((number + i) % 256 for i in range(32))


def users(n):
    return [("用户%d" if i % 5 == 0 else "user-%d") % i for i in range(n)]


example = bytes.fromhex("dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d")  # of proof.md
print(json.dumps([
    draw(seed(0), "u-1", "k-1", 0, users(1), 3, 0),
    draw(seed(0), "u-1", "k-1", 0, users(2), 1, 1),
    draw(example, "u-1", "k-1", 0, users(3), 2, 0),
    draw(seed(1), "u-1", "k-1", 0, users(5), 5, 4),
    draw(seed(2), "发送者", "键-1", 0, users(7), 3, 6),
    draw(seed(3), "u-1", "k-1k-1", 0, users(8), 1, 3),
    draw(seed(4), "u-1k-1", "k-1", 3, users(9), 4, 8),
    draw(seed(5), "u", "-1k-1", 2**32 - 1, users(33), 10, 32),
], ensure_ascii=False, indent=1))
