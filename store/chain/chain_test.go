package chain

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

func bytesFrom(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

// TestVectors compares hashes with those of another program, in another language. Other programs verify chains, too, so
// these values never change.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	salt, other := bytesFrom(0, SaltSize), bytesFrom(SaltSize, SaltSize)
	name := Sealed(salt, "Ann 安", "a.png")
	got := map[string]Hash{
		"seal": name,
		"entry": Entry{
			Room: "room-1", Seq: 7, ID: "id-7", At: 1700000000123, Sender: "ann", Kind: "text", Key: "key-1", Request: []byte{1, 2},
			Name: name, Text: Sealed(other, `{"text":"恭喜发财"}`),
		}.Leaf(),
		"packet": Packet{
			ID: "packet-1", Partition: 3, Room: "room-1", Sender: "ann", Mode: "lucky", Spread: "classic", Total: 100, Count: 2,
			Shares: []int64{60, 40}, Recipients: []string{"bob", "cy"}, Seed: bytes.Repeat([]byte{5}, 32), Commitment: "ab", Key: "key-2",
			Seq: 8, CreatedAt: 1700000000124, ExpiresAt: 1700000060124, Name: name, Text: Sealed(other, "恭喜", "open sesame"),
		}.Leaf(),
		"holding packet": Packet{
			ID: "packet-1", Partition: 3, Room: "room-1", Sender: "ann", Mode: "lucky", Spread: "classic", Total: 100, Count: 2,
			Shares: []int64{60, 40}, Recipients: []string{"bob", "cy"}, Seed: bytes.Repeat([]byte{5}, 32), Commitment: "ab", Key: "key-2",
			Seq: 8, CreatedAt: 1700000000124, ExpiresAt: 1700000060124, Name: name, Text: Sealed(other, "恭喜", "open sesame"),
			Held: `[["bob",1]]`, HeldUntil: 1700000030124,
		}.Leaf(),
		"encrypted packet": Packet{
			ID: "packet-1", Partition: 3, Room: "room-1", Sender: "ann", Mode: "lucky", Spread: "classic", Total: 100, Count: 2,
			Shares: []int64{60, 40}, Recipients: []string{"bob", "cy"}, Seed: bytes.Repeat([]byte{5}, 32), EncryptedSeed: bytes.Repeat([]byte{7}, 69),
			Commitment: "ab", Key: "key-2", Seq: 8, CreatedAt: 1700000000124, ExpiresAt: 1700000060124,
			Name: name, Text: Sealed(other, "恭喜", "c2VjcmV0"),
		}.Leaf(),
		"claim":       Claim{Packet: "packet-1", Share: 1, User: "bob", Amount: 40, At: 1700000000125, Transfer: "transfer-1"}.Leaf(),
		"participant": Participant{Packet: "packet-2", DrawLeaf: "0a0b", At: 1700000000127}.Leaf(),
		"draw":        Draw{Packet: "packet-2", At: 1700000000128, Participants: 3, Parts: 2, Root: "0c0d"}.Leaf(),
		"transfer": Transfer{
			ID: "transfer-2", At: 1700000000126, Debit: "outside", Credit: "user:ann", Amount: 500, Kind: "credit", User: "ann",
			Key: "key-3", Request: []byte{9}, Note: "a gift", Actor: "ops", RequestID: "req-1", Reason: "refill",
		}.Leaf(),
	}
	got["digest"] = Digest([]Hash{got["entry"], got["packet"], got["claim"]})
	first := Link{ID: LinkID(5, 0, 1700000000000), At: 1700000000000, Digest: Digest(nil)}
	second := Link{ID: LinkID(5, first.ID, 1700000000200), Prev: first.ID, At: 1700000000200, Leaves: 3, Digest: got["digest"]}
	got["first link"] = first.Hash(Hash{})
	got["second link"] = second.Hash(got["first link"])
	for name, hash := range got {
		if hex.EncodeToString(hash[:]) != want[name] {
			t.Errorf("%s: %x, want %s", name, hash, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not computed: %v", want)
	}
}

// TestSealOfErasedText erases a text: the hash that stands for it stays the same.
func TestSealOfErasedText(t *testing.T) {
	salt := newSalt()
	hash := Sealed(salt, "name", "avatar")
	if Sealed(hash[:], "", "") != hash || !Erased(hash[:]) || Erased(salt) {
		t.Error("the seal of an erased text does not stand for the text")
	}
	if Sealed(newSalt(), "name", "avatar") == hash || Sealed(salt, "nameavatar", "") == hash {
		t.Error("other texts or salts have the same hash")
	}
}

// TestLinkIDsRise draws ids in the same millisecond, and with a clock that steps back.
func TestLinkIDsRise(t *testing.T) {
	last := int64(0)
	for _, now := range []int64{1700000000000, 1700000000000, 1699999999000, 1700000000002, 1700000000002, 8000000000000} {
		id := LinkID(MaxChain, last, now)
		if id <= last || id&MaxChain != MaxChain {
			t.Errorf("link %d after %d at %d", id, last, now)
		}
		last = id
	}
}
