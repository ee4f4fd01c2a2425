package proof

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// Rain says how the shares of a packet are drawn in waves. Each wave is a draw of its own.
type Rain struct {
	Waves   int   `json:"waves"`
	OverS   int   `json:"over_s"`   // the waves lie within so many seconds
	MaxWins int   `json:"max_wins"` // waves that one user may win
	Begin   int64 `json:"begin"`    // Unix milliseconds: the end of the packet less over_s
}

// Times of a rain in milliseconds. Each wave has a cell of WaveCell: first a pause, then users can enter for WaveWindow.
const (
	WaveWindow = 2500
	WaveCell   = 3000
)

const rainLabel = "hongbao/rain/1"

// Check returns an error if there is no such rain.
func (r Rain) Check() error {
	switch {
	case r.Waves < 1 || r.Waves > maxShares:
		return fmt.Errorf("a rain has 1 to %d waves", maxShares)
	case r.OverS > maxShares || r.OverS*1000 < r.Waves*WaveCell:
		return fmt.Errorf("each wave needs %d ms of over_s", WaveCell)
	case r.MaxWins < 1:
		return errors.New("max_wins must be at least 1")
	}
	return nil
}

// Opens returns when users can begin to enter each wave, in milliseconds after the beginning of the rain. Users can enter for WaveWindow.
// The instants follow from the seed, the sender and the key. So nobody knows them before, and nobody can choose them afterwards.
func (r Rain) Opens(seed Seed, sender, key string) []int64 {
	w := &words{mac: hmac.New(sha256.New, seed[:]), prefix: fields([]byte(rainLabel), []byte(sender), []byte(key))}
	opens := make([]int64, r.Waves)
	for i := range opens {
		opens[i] = int64(w.below(uint64(r.OverS*1000 - r.Waves*WaveCell + 1)))
	}
	slices.Sort(opens)
	for i := range opens {
		opens[i] += int64(i)*WaveCell + WaveCell - WaveWindow
	}
	return opens
}

// Round decides which users win in the waves of a rain. The waves must be drawn in their order.
type Round struct {
	next    int            // the first share that nobody has won yet
	perWave int            // shares that come up with each wave
	most    int            // waves that one leaf's user may win
	wins    map[string]int // by user
}

// NewRound returns the state before the first wave of a packet with count shares.
func (r Rain) NewRound(count int) *Round {
	return &Round{perWave: count / cmp.Or(r.Waves, 1), most: r.MaxWins, wins: map[string]int{}}
}

// Won records that the user has won the next share in an earlier wave.
func (o *Round) Won(user string) {
	o.next++
	o.wins[user]++
}

// Next returns the first share that nobody has won yet.
func (o *Round) Next() int { return o.next }

// Draw returns which of the order win in the wave, and records them. They win the shares from Next on. Users that have won as often as they
// may are passed over. What earlier waves have left is drawn, too. user returns the user of a place of the order.
func (o *Round) Draw(wave int, order []int, user func(int) string) (winners []int) {
	free := wave*o.perWave - o.next
	for _, at := range order {
		if len(winners) >= free {
			break
		}
		if name := user(at); o.wins[name] < o.most {
			o.Won(name)
			winners = append(winners, at)
		}
	}
	return winners
}
