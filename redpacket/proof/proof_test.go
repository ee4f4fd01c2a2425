package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	maxTotal = 20_000_000 // web/docs/protocol/limits.md
	maxCount = 10_000
)

// cutting is a way to split a packet: its mode and spread.
type cutting struct{ Mode, Spread string }

func (c cutting) String() string { return fmt.Sprintf("%s %s", c.Mode, c.Spread) }

func cuttings() []cutting {
	return []cutting{{Equal, ""}, {Lucky, Calm}, {Lucky, Classic}, {Lucky, Wild}}
}

// cutPacket returns a packet with the fields that its shares depend on.
func cutPacket(c cutting, total int64, count int) Terms {
	return Terms{Sender: "u-1", Key: "k-1", Mode: c.Mode, Spread: c.Spread, Total: total, Count: count}
}

// goldenSeed returns the seed of the examples in web/docs/protocol/proof.md.
func goldenSeed() (seed Seed) {
	b, _ := hex.DecodeString("dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d")
	copy(seed[:], b)
	return seed
}

// testSeed returns the n-th seed of the fixed series with this name.
func testSeed(series string, n int) Seed { return sha256.Sum256(fmt.Appendf(nil, "%s %d", series, n)) }

// mustCut splits a packet and checks what must hold for every split.
func mustCut(tb rapid.TB, seed Seed, p Terms) []int64 {
	tb.Helper()
	shares, err := Shares(seed, p)
	if err != nil {
		tb.Fatalf("%s %s %d in %d: %v", p.Mode, p.Spread, p.Total, p.Count, err)
	}
	if len(shares) != p.Count {
		tb.Fatalf("%s %s %d in %d: %d shares", p.Mode, p.Spread, p.Total, p.Count, len(shares))
	}
	var sum int64
	for _, s := range shares {
		sum += s
	}
	if sum != p.Total {
		tb.Fatalf("%s %s %d in %d: the shares sum to %d", p.Mode, p.Spread, p.Total, p.Count, sum)
	}
	if least := slices.Min(shares); least < 1 {
		tb.Fatalf("%s %s %d in %d: a share of %d", p.Mode, p.Spread, p.Total, p.Count, least)
	}
	if p.Mode == Equal && slices.Max(shares)-slices.Min(shares) > 1 {
		tb.Fatalf("equal shares of %d in %d differ: %v", p.Total, p.Count, shares)
	}
	return shares
}

// splitVector is a packet with its shares, as testdata/split.json holds it. Tests of the browser SDK read the same
// file.
type splitVector struct {
	cutting

	Seed, Commitment, From, Key, Digest string
	Total                               int64
	Count                               int
	Shares                              []int64 // nil if there are many
}

// splitVectors returns the examples in web/docs/protocol/proof.md, then packets at the limits of what can be sent.
func splitVectors(t *testing.T) (all []splitVector) {
	t.Helper()
	data, err := os.ReadFile("testdata/split.json")
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCutGolden(t *testing.T) {
	for i, v := range splitVectors(t) {
		var seed Seed
		if n, err := hex.Decode(seed[:], []byte(v.Seed)); err != nil || n != len(seed) {
			t.Fatalf("vector %d: %v", i, err)
		}
		p := cutPacket(v.cutting, v.Total, v.Count)
		p.Sender, p.Key = v.From, v.Key
		got := mustCut(t, seed, p)
		if v.Shares != nil && !slices.Equal(got, v.Shares) {
			t.Errorf("vector %d: got %v, want %v", i, got, v.Shares)
		}
		if digest := sha256.Sum256([]byte(strings.Trim(fmt.Sprint(got), "[]"))); hex.EncodeToString(digest[:]) != v.Digest {
			t.Errorf("vector %d: the shares are others", i)
		}
		if c := Commitment(seed); c != v.Commitment {
			t.Errorf("vector %d: the commitment is %s", i, c)
		}
	}
}

func TestCommitmentGolden(t *testing.T) {
	const want = "b242b51bf03d0e1205c22701262660d8551a426d53fe5b42cf73cfafa20cdf8d"
	if got := Commitment(goldenSeed()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestWordsGolden compares random words with values that were computed with a library of another language. The last
// word is from block 10 or later, whose number has two digits.
func TestWordsGolden(t *testing.T) {
	w := newWords(goldenSeed(), cutPacket(cutting{Lucky, Classic}, 1000, 5))
	got := make([]uint64, 44)
	for i := range got {
		got[i] = w.next()
	}
	for i, want := range map[int]uint64{
		0: 0x279078751ae39679, 1: 0x700d4836adf72b3b, 2: 0x67a132de1ea82fbd, 3: 0x6db710d28a0a9a88,
		4: 0xff98c3a8347ac94e, 7: 0xf99d5b9210cc60ff, 40: 0xcd9b9c9748d398b1, 43: 0x095c4f019c750b4b,
	} {
		if got[i] != want {
			t.Errorf("word %d: got %#x, want %#x", i, got[i], want)
		}
	}
}

// TestCutDependsOn changes one of the Terms at a time. The shares must change with each.
func TestCutDependsOn(t *testing.T) {
	p := cutPacket(cutting{Lucky, Classic}, 100_000, 10)
	first := mustCut(t, goldenSeed(), p)
	for what, change := range map[string]func(*Terms){
		"sender": func(p *Terms) { p.Sender = "u-2" },
		"key":    func(p *Terms) { p.Key = "k-2" },
		"spread": func(p *Terms) { p.Spread = Calm },
		"total":  func(p *Terms) { p.Total++ },
		"count":  func(p *Terms) { p.Count++ },
	} {
		q := p
		change(&q)
		if slices.Equal(mustCut(t, goldenSeed(), q)[:9], first[:9]) {
			t.Errorf("another %s, the same shares", what)
		}
	}
	if slices.Equal(mustCut(t, testSeed("other", 0), p), first) {
		t.Error("another seed, the same shares")
	}
}

func TestCutEdges(t *testing.T) {
	for _, c := range cuttings() {
		for _, edge := range []struct {
			total int64
			count int
		}{
			{1, 1}, {maxTotal, 1}, {2, 2}, {3, 2}, {200, 100}, {100, 100}, {101, 100},
			{maxCount, maxCount}, {maxCount + 1, maxCount}, {maxTotal, maxCount}, {maxTotal, 2},
		} {
			mustCut(t, goldenSeed(), cutPacket(c, edge.total, edge.count))
		}
	}
}

func TestCutRefuses(t *testing.T) {
	lucky := cutting{Lucky, Classic}
	for what, p := range map[string]Terms{
		"less than 1 each":      cutPacket(lucky, 4, 5),
		"nothing":               cutPacket(lucky, 0, 1),
		"no shares":             cutPacket(lucky, 10, 0),
		"a negative count":      cutPacket(lucky, 10, -1),
		"a negative total":      cutPacket(lucky, -10, 1),
		"lucky without spread":  cutPacket(cutting{Lucky, ""}, 10, 2),
		"an unknown spread":     cutPacket(cutting{Lucky, "mad"}, 10, 2),
		"equal with a spread":   cutPacket(cutting{Equal, Calm}, 10, 2),
		"an unknown mode":       cutPacket(cutting{"unfair", Calm}, 10, 2),
		"no mode and no spread": cutPacket(cutting{}, 10, 2),
	} {
		if shares, err := Shares(goldenSeed(), p); err == nil {
			t.Errorf("%s: cut into %v", what, shares)
		}
	}
}

func TestCutProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(cuttings()).Draw(t, "cutting")
		limit := rapid.SampledFrom([]int{5, 300, maxCount}).Draw(t, "count up to")
		count := rapid.IntRange(1, limit).Draw(t, "count")
		total := rapid.OneOf(rapid.Just(count), rapid.IntRange(count, min(3*count, maxTotal)), rapid.IntRange(count, maxTotal)).Draw(t, "total")
		seed := testSeed("properties", rapid.Int().Draw(t, "seed"))
		p := cutPacket(c, int64(total), count)
		shares := mustCut(t, seed, p)
		if !slices.Equal(shares, mustCut(t, seed, p)) {
			t.Fatalf("%s %d in %d: cut twice, not the same", c, total, count)
		}
	})
}
