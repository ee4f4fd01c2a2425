package proof

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// waveGap is the least time from the begin of a wave to the begin of the next one, in milliseconds.
const waveGap = 2000

// Offsets returns the instants of a rain's waves, counted from its begin, in ascending order. They are whole milliseconds below the
// duration, at least two seconds apart. All such sets of instants are equally likely. It returns an error if the waves do not fit into
// the duration.
//
// They depend on the sender's key as shares do, and not on the packet's id: the server makes the id when it knows the seed and the key.
func Offsets(seed Seed, sender, key string, waves int, duration time.Duration) ([]time.Duration, error) {
	span := duration.Milliseconds()
	free := span - (waveGap-1)*int64(waves-1)
	if waves < 1 || free < int64(waves) || span > math.MaxUint32 {
		return nil, fmt.Errorf("%d waves do not fit into %s: they need %s from one to the next", waves, duration, waveGap*time.Millisecond)
	}
	// Distinct points in the free time, with the gap added after each: that gives each allowed set of instants exactly once.
	w := newStream(seed, fields([]byte(rainLabel), []byte(sender), []byte(key), number(uint32(waves)), number(uint32(span))))
	offsets := make([]time.Duration, 0, waves)
	for i, point := range w.points(free, waves) {
		offsets = append(offsets, time.Duration(point+int64(i)*(waveGap-1))*time.Millisecond)
	}
	return offsets, nil
}

// Win is a share that a user has won in a draw. Rank counts the packet's shares from 1.
type Win struct {
	User string
	Rank int
}

// Deal gives the shares of one wave of a rain. Waves count from 1, and each has count shares of its own: the first wave the ranks 1 to
// count, and so on. users are the participants of the wave in its Order; "" is a user that was erased. earlier has all wins of the
// waves before.
//
// The participants get, in their order, the shares of this wave, then those that earlier waves left, beginning with the latest one. A
// user that has maxWins shares gets no other. Deal also returns the places of such users, up to the place at which no share was left.
// With maxWins 0 there is no limit.
func Deal(wave uint32, count, maxWins int, users []string, earlier []Win) (wins []Win, passed []int) {
	has, taken := make(map[string]int), make(map[int]bool, len(earlier))
	for _, win := range earlier {
		has[win.User]++
		taken[win.Rank] = true
	}
	ranks := waveRanks(wave, count, taken)
	for place, user := range users {
		if len(wins) == len(ranks) {
			break
		}
		if user != "" && maxWins > 0 && has[user] >= maxWins {
			passed = append(passed, place)
			continue
		}
		has[user]++
		wins = append(wins, Win{user, ranks[len(wins)]})
	}
	return wins, passed
}

// waveRanks returns the ranks that a wave gives, in their order.
func waveRanks(wave uint32, count int, taken map[int]bool) []int {
	var ranks []int
	for w := int(wave); w >= 1; w-- {
		for rank := (w-1)*count + 1; rank <= w*count; rank++ {
			if !taken[rank] {
				ranks = append(ranks, rank)
			}
		}
	}
	return ranks
}

// HeldRanks returns which ranks of a packet of count shares are held for members that are away, in ascending order. Ranks count from 1.
// All sets of held ranks are equally likely. It returns all ranks if held is greater than count. sender and key are as for Offsets.
func HeldRanks(seed Seed, sender, key string, count, held int) []int {
	if count < 1 || held < 1 {
		return nil
	}
	held = min(held, count)
	w := newStream(seed, fields([]byte(holdLabel), []byte(sender), []byte(key), number(uint32(count)), number(uint32(held))))
	ranks := make([]int, count)
	for i := range ranks {
		ranks[i] = i + 1
	}
	for i := count - 1; i >= count-held; i-- { // the first steps of a shuffle: the last places are final after them
		j := w.below(uint64(i + 1))
		ranks[i], ranks[j] = ranks[j], ranks[i]
	}
	ranks = ranks[count-held:]
	slices.Sort(ranks)
	return ranks
}
