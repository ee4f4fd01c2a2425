package proof

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// rainCritical is 1 % of chi-square with 9 degrees of freedom.
const rainCritical = 21.666

func TestOffsetsGolden(t *testing.T) {
	got, err := Offsets(goldenSeed(), "u-1", "k-1", 5, 30*time.Second)
	if want := offsetsOf(1797, 4063, 16034, 24648, 29848); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func offsetsOf(milliseconds ...int64) (all []time.Duration) {
	for _, ms := range milliseconds {
		all = append(all, time.Duration(ms)*time.Millisecond)
	}
	return all
}

func TestOffsetsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waves := rapid.IntRange(1, 100).Draw(t, "waves")
		least := int64(waves-1)*2000 + 1
		span := rapid.OneOf(rapid.Just(least), rapid.Int64Range(least, least+200), rapid.Int64Range(least, 600_000)).Draw(t, "span")
		seed := testSeed("offsets", rapid.Int().Draw(t, "seed"))
		offsets, err := Offsets(seed, "u", "p", waves, time.Duration(span)*time.Millisecond)
		if err != nil || len(offsets) != waves {
			t.Fatalf("%d offsets, %v", len(offsets), err)
		}
		for i, offset := range offsets {
			if offset < 0 || offset >= time.Duration(span)*time.Millisecond || offset%time.Millisecond != 0 {
				t.Fatalf("wave %d comes after %s of %d ms", i, offset, span)
			}
			if i > 0 && offset-offsets[i-1] < 2*time.Second {
				t.Fatalf("wave %d comes %s after the one before", i, offset-offsets[i-1])
			}
		}
		again, _ := Offsets(seed, "u", "p", waves, time.Duration(span)*time.Millisecond)
		if !slices.Equal(again, offsets) {
			t.Fatal("drawn twice, not the same")
		}
	})
}

func TestOffsetsThatDoNotFit(t *testing.T) {
	for _, bad := range []struct {
		waves    int
		duration time.Duration
	}{{0, time.Minute}, {-1, time.Minute}, {1, 0}, {1, -time.Second}, {3, 4 * time.Second}, {100, 198 * time.Second}, {2, 1000 * time.Hour * 24}} {
		if offsets, err := Offsets(goldenSeed(), "u", "p", bad.waves, bad.duration); err == nil {
			t.Errorf("%d waves in %s: %v", bad.waves, bad.duration, offsets)
		}
	}
	if _, err := Offsets(goldenSeed(), "u", "p", 100, 198*time.Second+time.Millisecond); err != nil {
		t.Errorf("100 waves in the shortest time: %v", err)
	}
}

// TestOffsetsAreUniform draws rains of two waves within ten allowed pairs of instants. Each pair must come equally often.
func TestOffsetsAreUniform(t *testing.T) {
	const draws = 10_000
	times := map[string]int{}
	for n := range draws { // instants 0 to 2003: pairs at least 2000 apart are 0+2000..2003, 1+2001..2003, 2+2002..2003, 3+2003
		offsets, err := Offsets(testSeed("uniform", n), "u", "p", 2, 2004*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		times[fmt.Sprint(offsets)]++
	}
	if x := chiSquare(times, 10, draws); x > rainCritical {
		t.Errorf("pairs of instants are not equally likely: chi-square %.1f, %v", x, times)
	}
}

// chiSquare compares how often each of the outcomes came with how often it should.
func chiSquare(times map[string]int, outcomes, draws int) float64 {
	if len(times) != outcomes {
		return math.Inf(1)
	}
	x, want := 0.0, float64(draws)/float64(outcomes)
	for _, n := range times {
		x += (float64(n) - want) * (float64(n) - want) / want
	}
	return x
}

func TestOffsetsDependOn(t *testing.T) {
	first, err := Offsets(goldenSeed(), "u", "p", 10, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for what, draw := range map[string]func() ([]time.Duration, error){
		"seed":   func() ([]time.Duration, error) { return Offsets(testSeed("other", 0), "u", "p", 10, time.Minute) },
		"sender": func() ([]time.Duration, error) { return Offsets(goldenSeed(), "v", "p", 10, time.Minute) },
		"key":    func() ([]time.Duration, error) { return Offsets(goldenSeed(), "u", "q", 10, time.Minute) },
		"waves":  func() ([]time.Duration, error) { return Offsets(goldenSeed(), "u", "p", 11, time.Minute) },
		"duration": func() ([]time.Duration, error) {
			return Offsets(goldenSeed(), "u", "p", 10, time.Minute+time.Millisecond)
		},
	} {
		if other, err := draw(); err != nil || slices.Equal(other[:9], first[:9]) {
			t.Errorf("another %s: %v, %v", what, other, err)
		}
	}
}

func TestHeldRanksGolden(t *testing.T) {
	if got, want := HeldRanks(goldenSeed(), "u-1", "k-1", 10, 4), []int{4, 5, 6, 10}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestHeldRanksProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(-1, 300).Draw(t, "count")
		held := rapid.IntRange(-1, 310).Draw(t, "held")
		seed := testSeed("held", rapid.Int().Draw(t, "seed"))
		ranks := HeldRanks(seed, "u", "p", count, held)
		if len(ranks) != max(0, min(count, held)) {
			t.Fatalf("%d of %d held: %v", held, count, ranks)
		}
		for i, rank := range ranks {
			if rank < 1 || rank > count || i > 0 && rank <= ranks[i-1] {
				t.Fatalf("%d of %d held: %v", held, count, ranks)
			}
		}
		if !slices.Equal(HeldRanks(seed, "u", "p", count, held), ranks) {
			t.Fatal("drawn twice, not the same")
		}
	})
}

// TestHeldRanksAreUniform draws which two of five ranks are held. Each of the ten pairs must come equally often.
func TestHeldRanksAreUniform(t *testing.T) {
	const draws = 10_000
	times := map[string]int{}
	for n := range draws {
		times[fmt.Sprint(HeldRanks(testSeed("uniform ranks", n), "u", "p", 5, 2))]++
	}
	if x := chiSquare(times, 10, draws); x > rainCritical {
		t.Errorf("pairs of ranks are not equally likely: chi-square %.1f, %v", x, times)
	}
}

// TestHeldRanksSayNothingOfShares compares the mean of held shares with the mean of all shares.
func TestHeldRanksSayNothingOfShares(t *testing.T) {
	const draws, count, held, each = 4_000, 8, 3, 10_000
	for _, spread := range []string{Calm, Classic, Wild} {
		sum, squares := 0.0, 0.0
		for n := range draws {
			seed := testSeed("held shares", n)
			shares := mustCut(t, seed, cutPacket(cutting{Lucky, spread}, count*each, count))
			got := 0.0
			for _, rank := range HeldRanks(seed, "u", "p", count, held) {
				got += float64(shares[rank-1]) - each
			}
			sum += got
			squares += got * got
		}
		if z := sum / math.Sqrt(squares); math.Abs(z) > 2.576 { // 1 % of the normal distribution
			t.Errorf("%s: held shares differ from others: %.1f standard deviations", spread, z)
		}
	}
}

func TestDeal(t *testing.T) {
	for what, test := range map[string]struct {
		wave    uint32
		count   int
		max     int
		users   []string
		earlier []Win
		want    []Win
		passed  []int
	}{
		"first wave":           {1, 2, 1, []string{"a", "b", "c"}, nil, []Win{{"a", 1}, {"b", 2}}, nil},
		"few participants":     {1, 3, 1, []string{"a"}, nil, []Win{{"a", 1}}, nil},
		"no participants":      {1, 3, 1, nil, nil, nil, nil},
		"leftovers after own":  {2, 2, 2, []string{"a", "b", "c", "d", "e"}, []Win{{"x", 1}}, []Win{{"a", 3}, {"b", 4}, {"c", 2}}, nil},
		"latest leftovers":     {3, 2, 2, []string{"a", "b", "c", "d", "e"}, []Win{{"x", 1}, {"y", 3}}, []Win{{"a", 5}, {"b", 6}, {"c", 4}, {"d", 2}}, nil},
		"passed over":          {2, 1, 1, []string{"x", "a", "y"}, []Win{{"x", 1}}, []Win{{"a", 2}}, []int{0}},
		"not passed over late": {2, 1, 1, []string{"a", "x"}, []Win{{"x", 1}}, []Win{{"a", 2}}, nil},
		"all passed over":      {2, 1, 1, []string{"x"}, []Win{{"x", 1}}, nil, []int{0}},
		"two allowed":          {2, 1, 2, []string{"x"}, []Win{{"x", 1}}, []Win{{"x", 2}}, nil},
		"no limit":             {2, 1, 0, []string{"x"}, []Win{{"x", 1}}, []Win{{"x", 2}}, nil},
		"erased users":         {2, 2, 1, []string{"", ""}, []Win{{"", 1}, {"", 2}}, []Win{{"", 3}, {"", 4}}, nil},
	} {
		wins, passed := Deal(test.wave, test.count, test.max, test.users, test.earlier)
		if !slices.Equal(wins, test.want) || !slices.Equal(passed, test.passed) {
			t.Errorf("%s: got %v, passed %v", what, wins, passed)
		}
	}
}

// TestDealProperties deals rains with random participants. No rank is given twice, no user wins more than allowed, and a wave leaves a
// share only if no participant may have it.
func TestDealProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waves, count, limit := rapid.IntRange(1, 12).Draw(t, "waves"), rapid.IntRange(1, 6).Draw(t, "count"), rapid.IntRange(1, 4).Draw(t, "max")
		var all []Win
		ranks, has := map[int]bool{}, map[string]int{}
		for wave := 1; wave <= waves; wave++ {
			users := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-j]`), 0, 10, rapid.ID).Draw(t, "users")
			wins, passed := Deal(uint32(wave), count, limit, users, all)
			for _, place := range passed {
				if has[users[place]] < limit {
					t.Fatalf("%s was passed over with %d shares", users[place], has[users[place]])
				}
			}
			allowed := 0
			for _, user := range users {
				if has[user] < limit {
					allowed++
				}
			}
			if left := wave*count - len(all); len(wins) != min(left, allowed) {
				t.Fatalf("wave %d: %d wins with %d shares for %d users", wave, len(wins), left, allowed)
			}
			for _, win := range wins {
				has[win.User]++
				if ranks[win.Rank] || win.Rank < 1 || win.Rank > wave*count || has[win.User] > limit {
					t.Fatalf("wave %d: %v", wave, win)
				}
				ranks[win.Rank] = true
			}
			all = append(all, wins...)
		}
	})
}
