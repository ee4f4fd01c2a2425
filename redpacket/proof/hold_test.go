package proof

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
)

// TestHeldGolden compares what is held with the results of another program, in Python.
func TestHeldGolden(t *testing.T) {
	for _, v := range []struct {
		seed        Seed
		sender, key string
		count, held int
		want        []int
	}{
		{Seed(mustHex(t, "dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d")), "u-1", "k-1", 10, 3, []int{3, 4, 8}},
		{Seed(mustHex(t, "dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d")), "u-1", "k-1", 10, 11, []int{3, 4, 8, 0, 6, 1, 7, 5, 2, 9}},
		{Seed(mustHex(t, "dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d")), "发送者", "键-1", 300, 5, []int{45, 258, 6, 123, 32}},
		{Seed{}, "u", "-1k-1", 2, 1, []int{0}},
		{Seed{}, "u", "k", 5, 0, []int{}},
	} {
		if got := Held(v.seed, v.sender, v.key, v.count, v.held); !slices.Equal(got, v.want) {
			t.Errorf("%s %s, %d of %d: %v, want %v", v.sender, v.key, v.held, v.count, got, v.want)
		}
	}
}

// TestHeldIsTheRule has the rule a second time.
func TestHeldIsTheRule(t *testing.T) {
	lp := func(fields ...string) (out []byte) {
		for _, f := range fields {
			out = append(out, byte(len(f)>>24), byte(len(f)>>16), byte(len(f)>>8), byte(len(f)))
			out = append(out, f...)
		}
		return out
	}
	sign := func(key, text []byte) string {
		mac := hmac.New(sha256.New, key)
		mac.Write(text)
		return string(mac.Sum(nil))
	}
	for n := range 50 {
		seed, sender := Seed(sha256.Sum256([]byte{byte(n)})), fmt.Sprint("u-", n)
		k := sign(seed[:], lp("hongbao/hold/1", sender, "k"))
		order := make([]int, 20)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Compare(sign([]byte(k), []byte{0, 0, 0, byte(a)}), sign([]byte(k), []byte{0, 0, 0, byte(b)}))
		})
		if got := Held(seed, sender, "k", 20, 7); !slices.Equal(got, order[:7]) {
			t.Errorf("%v, want %v", got, order[:7])
		}
	}
}

// TestHeldIsFairByRank counts how often each share is held.
func TestHeldIsFairByRank(t *testing.T) {
	const count, held, rounds = 10, 3, 10_000
	var times [count]int
	for n := range rounds {
		for _, share := range Held(Seed(sha256.Sum256(fmt.Append(nil, n))), "u", "k", count, held) {
			times[share]++
		}
	}
	chi := 0.0
	const want = float64(rounds * held / count)
	for _, n := range times {
		chi += (float64(n) - want) * (float64(n) - want) / want
	}
	if chi > 27.9 { // 9 degrees of freedom: p = 0.001
		t.Errorf("chi-square %.1f: %v", chi, times)
	}
}
