package proof

import (
	"crypto/hmac"
	"crypto/sha256"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// oracle splits packets a second time: it follows web/docs/protocol/proof.md sentence by sentence, with big integers and
// without any optimisation. It shares no code with Shares.
type oracle struct {
	seed   []byte
	prefix string
	used   int // words used
}

func newOracle(seed Seed, p Terms) *oracle {
	lines := []string{
		"hongbao/1", p.Sender, p.Key, p.Mode, p.Spread,
		strconv.FormatInt(p.Total, 10), strconv.Itoa(p.Count),
	}
	return &oracle{seed: seed[:], prefix: strings.Join(lines, "\n") + "\n"}
}

// word returns the next random word. Each block has four.
func (o *oracle) word() *big.Int {
	mac := hmac.New(sha256.New, o.seed)
	mac.Write([]byte(o.prefix + strconv.Itoa(o.used/4)))
	from := 8 * (o.used % 4)
	o.used++
	return new(big.Int).SetBytes(mac.Sum(nil)[from : from+8])
}

func (o *oracle) below(n *big.Int) *big.Int {
	all := new(big.Int).Lsh(big.NewInt(1), 64)
	limit := new(big.Int).Sub(all, new(big.Int).Mod(all, n))
	for {
		if w := o.word(); w.Cmp(limit) < 0 {
			return w.Mod(w, n)
		}
	}
}

func (o *oracle) int(n int64) int64 { return o.below(big.NewInt(n)).Int64() }

func (o *oracle) shuffled(shares []int64) []int64 {
	for i := len(shares) - 1; i >= 1; i-- {
		j := o.int(int64(i + 1))
		shares[i], shares[j] = shares[j], shares[i]
	}
	return shares
}

func (o *oracle) cut(p Terms) []int64 {
	count := int64(p.Count)
	var shares []int64
	switch {
	case p.Mode == Equal:
		for range p.Total % count {
			shares = append(shares, p.Total/count+1)
		}
		for range count - p.Total%count {
			shares = append(shares, p.Total/count)
		}
		return o.shuffled(shares)
	case p.Spread == Wild:
		cuts := []int64{0, p.Total}
		for len(cuts) < p.Count+1 {
			if c := 1 + o.int(p.Total-1); !slices.Contains(cuts, c) {
				cuts = append(cuts, c)
			}
		}
		slices.Sort(cuts)
		for i := 1; i < len(cuts); i++ {
			shares = append(shares, cuts[i]-cuts[i-1])
		}
		return shares
	}
	left := p.Total
	for k := count; k >= 2; k-- {
		var lo, hi int64
		if p.Spread == Classic {
			lo, hi = 1, max(1, 2*left/k-1)
		} else {
			lo, hi = max(1, left/(2*k)), max(1, 3*left/(2*k))
		}
		hi = min(hi, left-k+1)
		lo = min(lo, hi)
		share := lo + o.int(hi-lo+1)
		shares = append(shares, share)
		left -= share
	}
	return o.shuffled(append(shares, left))
}

// TestCutAgainstOracle cuts packets with Shares and with the oracle. Both must get the same shares.
func TestCutAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(cuttings()).Draw(t, "cutting")
		count := rapid.IntRange(1, 60).Draw(t, "count")
		total := rapid.OneOf(rapid.Just(count), rapid.IntRange(count, 3*count), rapid.IntRange(count, maxTotal)).Draw(t, "total")
		p := cutPacket(c, int64(total), count)
		p.Sender = rapid.StringMatching(`[a-z:]{1,12}`).Draw(t, "sender")
		p.Key = rapid.StringMatching(`[!-~]{1,64}`).Draw(t, "key")
		agree(t, testSeed("oracle", rapid.Int().Draw(t, "seed")), p)
	})
}

func agree(tb rapid.TB, seed Seed, p Terms) {
	tb.Helper()
	if got, want := mustCut(tb, seed, p), newOracle(seed, p).cut(p); !slices.Equal(got, want) {
		tb.Fatalf("%s %s %d in %d:\ngot  %v\nwant %v", p.Mode, p.Spread, p.Total, p.Count, got, want)
	}
}

// TestBelowAgainstOracle compares below with the oracle. With a bound just above 2^63, nearly every second word is
// skipped. With a bound that divides 2^64, no word is skipped.
func TestBelowAgainstOracle(t *testing.T) {
	p := cutPacket(cutting{Lucky, Wild}, 100, 2)
	for _, n := range []uint64{1, 2, 3, 1 << 32, 1<<63 - 1, 1 << 63, 1<<63 + 1, 3 << 62, 1<<64 - 1} {
		w, o := newWords(goldenSeed(), p), newOracle(goldenSeed(), p)
		for i := range 200 {
			want := o.below(new(big.Int).SetUint64(n)).Uint64()
			if got := w.below(n); got != want {
				t.Fatalf("below(%d), call %d: got %d, want %d", n, i, got, want)
			}
		}
	}
}

// FuzzCut passes any input to Shares. Shares must fail, or divide the total exactly and as the oracle does.
func FuzzCut(f *testing.F) {
	for i := range cuttings() {
		f.Add([]byte("seed"), "u-1", "k-1", uint8(i), int64(1000), 5)
		f.Add([]byte{}, "", "", uint8(i), int64(200), 100)
		f.Add([]byte{0}, "u\n1", "k", uint8(i), int64(-1), -1)
	}
	f.Fuzz(func(t *testing.T, seed []byte, sender, key string, how uint8, total int64, count int) {
		if total > maxTotal || count > 200 {
			t.Skip() // such a packet is refused before it is cut, or takes the oracle too long
		}
		p := cutPacket(cuttings()[int(how)%len(cuttings())], total, count)
		p.Sender, p.Key = sender, key
		if count < 1 || total < int64(count) {
			if shares, err := Shares(sha256.Sum256(seed), p); err == nil {
				t.Fatalf("%d in %d: cut into %v", total, count, shares)
			}
			return
		}
		agree(t, sha256.Sum256(seed), p)
	})
}
