package proof

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestCutIsFairByRank compares the ranks in the order of claims. For each spread, the mean, the variance and the
// chance to be the luckiest must be the same at each rank, by a chi-square test at 1 %.
func TestCutIsFairByRank(t *testing.T) {
	const packets, each = 4_000, 10_000
	critical := map[int]float64{5: 13.277, 10: 21.666} // 1 % of chi-square with count - 1 degrees of freedom, by count
	for _, c := range cuttings() {
		for count, limit := range critical {
			total := count*each + count/2
			shares, squares, luckiest := make([][]float64, packets), make([][]float64, packets), make([][]float64, packets)
			for n := range packets {
				cut := mustCut(t, testSeed(c.String(), n), cutPacket(c, int64(total), count))
				for _, share := range cut {
					off := float64(share) - float64(total)/float64(count)
					shares[n] = append(shares[n], float64(share))
					squares[n] = append(squares[n], off*off)
				}
				luckiest[n] = make([]float64, count)
				luckiest[n][slices.Index(cut, slices.Max(cut))] = 1
			}
			figures := map[string][][]float64{"mean": shares, "variance": squares, "chance to be the luckiest": luckiest}
			if c.Mode == Equal { // equal shares: the mean decides the variance, and no user is the luckiest
				figures = map[string][][]float64{"mean": shares}
			}
			for what, rows := range figures {
				if x := flatness(rows); x > limit {
					t.Errorf("%s in %d: the %s differs by rank: chi-square %.1f, over %.1f", c, count, what, x, limit)
				}
			}
		}
	}
}

// TestFairnessTestDetectsBias draws shares from what is left without shuffling them. The test of TestCutIsFairByRank
// must find that unfair.
func TestFairnessTestDetectsBias(t *testing.T) {
	const packets, count, total = 6_000, 5, 50_000
	squares := make([][]float64, packets)
	for n := range squares {
		w := newWords(testSeed("unshuffled", n), cutPacket(cutting{Lucky, Classic}, total, count))
		left := int64(total)
		for k := int64(count); k >= 1; k-- {
			share := left
			if k > 1 {
				share = 1 + int64(w.below(uint64(2*left/k-1)))
			}
			squares[n] = append(squares[n], math.Pow(float64(share)-total/count, 2))
			left -= share
		}
	}
	if x := flatness(squares); x < 13.277 {
		t.Errorf("the variance of an unshuffled cut passes as flat: chi-square %.1f", x)
	}
}

// flatness returns a chi-square statistic for the hypothesis that all ranks have the same mean. It has one degree of
// freedom less than there are ranks. The amounts of one packet depend on each other but, by the hypothesis, all in the
// same way. So the variance within packets is the measure for the differences between the means.
func flatness(rows [][]float64) float64 {
	places := len(rows[0])
	means, within := make([]float64, places), 0.0
	for _, row := range rows {
		mean := average(row)
		for place, x := range row {
			means[place] += x / float64(len(rows))
			within += (x - mean) * (x - mean)
		}
	}
	within /= float64(len(rows) * (places - 1))
	all, between := average(means), 0.0
	for _, m := range means {
		between += (m - all) * (m - all)
	}
	return between * float64(len(rows)) / within
}

func average(xs []float64) (mean float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	return mean
}

// TestCutSpreads cuts packets of ten shares with each spread. The largest share must be about 1.5, 2.1 and 2.9 times
// the mean.
func TestCutSpreads(t *testing.T) {
	const packets, count, each = 2_000, 10, 10_000
	for spread, want := range map[string]float64{Calm: 1.5, Classic: 2.1, Wild: 2.9} {
		best := 0.0
		for n := range packets {
			cut := mustCut(t, testSeed("best", n), cutPacket(cutting{Lucky, spread}, count*each, count))
			best += float64(slices.Max(cut)) / each / packets
		}
		if math.Abs(best-want) > 0.06 {
			t.Errorf("%s: the best of ten gets %.3f times the mean, want about %.1f", spread, best, want)
		}
	}
}

// TestRobotsWinByChance has 10 robots that answer first, and 30 people that answer later, but within the window. A packet has 10 shares.
// First come, first served gives the robots all shares. A draw gives them a quarter, as they are a quarter of the participants.
func TestRobotsWinByChance(t *testing.T) {
	const packets, robots, people, count = 2_000, 10, 30, 10
	first, drawn := 0, 0
	for n := range packets {
		key := fmt.Sprint("k-", n)
		var leaves []Hash // in the order of arrival
		for i := range robots {
			leaves = append(leaves, Leaf("sender", key, 0, fmt.Sprint("robot-", i)))
		}
		for i := range people {
			leaves = append(leaves, Leaf("sender", key, 0, fmt.Sprint("person-", i)))
		}
		first += min(robots, count)
		for _, place := range Winners(Order(testSeed("robots", n), "sender", key, 0, leaves), count) {
			if place < robots {
				drawn++
			}
		}
	}
	part := func(wins int) float64 { return 100 * float64(wins) / (packets * count) }
	chance := 100 * float64(robots) / (robots + people)
	figures := fmt.Sprintf("%.1f %% first come, first served; %.1f %% in a draw", part(first), part(drawn))
	t.Logf("the robots' part of %d shares: %s", packets*count, figures)
	if math.Abs(part(drawn)-chance) > 1 || part(first) != 100 {
		t.Errorf("chance is %.1f %%, and the robots got %s", chance, figures)
	}
	for _, page := range []string{"../../web/docs/protocol/draws.md", "../../web/pictures/robots.svg"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []float64{part(first), part(drawn)} {
			if figure := fmt.Sprintf("%.1f %%", want); !strings.Contains(string(text), figure) {
				t.Errorf("%s has no %s", page, figure)
			}
		}
	}
}
