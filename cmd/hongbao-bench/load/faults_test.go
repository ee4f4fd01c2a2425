package load

import (
	"fmt"
	"slices"
	"testing"
)

// heard is an entry as it comes.
func heard(seq int64) *entry {
	return &entry{offset: seq, seq: seq, id: fmt.Appendf(nil, "e-%d", seq), key: fmt.Appendf(nil, "k-%d", seq), at: seq}
}

// broken are the names of the checks that did not hold.
func broken(c *checks) (names []string) {
	for _, one := range c.all() {
		if !one.Held {
			names = append(names, one.Name)
		}
	}
	slices.Sort(names)
	return names
}

// TestJournals shows each kind of fault a journal can have, and that it is found and named.
func TestJournals(t *testing.T) {
	for name, c := range map[string]struct {
		seqs []int64
		last int64 // of the room
		want []string
	}{
		"all is well":        {[]int64{1, 2, 3, 4}, 4, nil},
		"nothing is there":   {nil, 0, nil},
		"one is missing":     {[]int64{1, 2, 4}, 4, []string{checkComplete}},
		"the end is missing": {[]int64{1, 2}, 4, []string{checkComplete}},
		"one comes twice":    {[]int64{1, 2, 2, 3, 4}, 4, []string{checkOnce}},
		"an old one again":   {[]int64{1, 2, 3, 1, 4}, 4, []string{checkOnce}},
		"two are swapped":    {[]int64{1, 3, 2, 4}, 4, []string{checkOrder}},
		"no place at all":    {[]int64{1, 0, 2}, 2, []string{checkOrder}},
		"far too high":       {[]int64{1, 1 << 40}, 1, []string{checkOrder}},
	} {
		var seen checks
		j := &journal{room: newRoom("r", "room:r"), user: "u"}
		for _, seq := range c.seqs {
			j.hear(heard(seq), &seen)
		}
		j.finish(c.last, &seen)
		if got := broken(&seen); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

func TestJournalsDisagree(t *testing.T) {
	for name, change := range map[string]func(e *entry){
		"id": func(e *entry) { e.id = []byte("other") }, "key": func(e *entry) { e.key = []byte("other") }, "time": func(e *entry) { e.at++ },
	} {
		var seen checks
		r := newRoom("r", "room:r")
		one, other := &journal{room: r, user: "one"}, &journal{room: r, user: "other"}
		one.hear(heard(1), &seen)
		other.hear(heard(1), &seen)
		if got := broken(&seen); got != nil {
			t.Fatalf("the same: %q", got)
		}
		one.hear(heard(2), &seen)
		e := heard(2)
		change(e)
		other.hear(e, &seen)
		if got := broken(&seen); !slices.Equal(got, []string{checkAgree}) {
			t.Errorf("another %s: found %q", name, got)
		}
	}
	var seen checks
	e := heard(1)
	e.seq = 2
	(&journal{room: newRoom("r", "room:r")}).hear(e, &seen)
	if got := broken(&seen); !slices.Equal(got, []string{checkOrder}) {
		t.Errorf("an entry that is another than its place: %q", got)
	}
}

// TestStored shows what can be wrong with what a room has in the end.
func TestStored(t *testing.T) {
	for name, c := range map[string]struct {
		heard, acked, stored []int64 // of stored: which entry is at each place
		want                 []string
	}{
		"all is well":                  {[]int64{1, 2, 3}, []int64{1, 3}, []int64{1, 2, 3}, nil},
		"acknowledged, not there":      {[]int64{1}, []int64{1, 2}, []int64{1}, []string{checkAcked}},
		"acknowledged, another there":  {nil, []int64{1, 2}, []int64{1, 5}, []string{checkAcked}},
		"acknowledged, there twice":    {[]int64{1}, []int64{1}, []int64{1, 1}, []string{checkAcked}},
		"heard, not stored":            {[]int64{1, 2}, []int64{1}, []int64{1}, []string{checkStored}},
		"heard, another is stored":     {[]int64{1, 2}, []int64{1}, []int64{1, 7}, []string{checkStored}},
		"stored, nobody has heard it ": {[]int64{1}, []int64{1}, []int64{1, 2}, nil}, // who should have is found by his journal
	} {
		var seen checks
		r := newRoom("r", "room:r")
		for _, seq := range c.heard {
			r.hear(heard(seq))
		}
		for _, seq := range c.acked {
			e := heard(seq)
			if !r.acknowledge(sent{seq: seq, id: e.id, at: e.at}, e.key) {
				t.Errorf("%s: %d cannot be acknowledged", name, seq)
			}
		}
		var stored []mark
		for _, seq := range c.stored {
			stored = append(stored, heard(seq).mark())
		}
		r.compare(stored, &seen)
		if got := broken(&seen); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
	r := newRoom("r", "room:r")
	if !r.acknowledge(sent{seq: 1, id: []byte("a")}, []byte("k")) || !r.acknowledge(sent{seq: 1, id: []byte("a")}, []byte("k")) {
		t.Error("the same twice is the same")
	}
	if r.acknowledge(sent{seq: 1, id: []byte("b")}, []byte("k2")) {
		t.Error("one place for two sends")
	}
}

func won(amount int64, rank int) grabbed {
	return grabbed{outcome: "won", amount: amount, rank: rank, claimed: rank, count: 2}
}

// TestGrabs shows what can be wrong with what grabbers are told.
func TestGrabs(t *testing.T) {
	type told struct {
		user string
		grabbed
	}
	again := won(30, 1)
	again.outcome = "already"
	for name, c := range map[string]struct {
		told []told
		want []string
	}{
		"all is well":      {[]told{{"a", won(30, 1)}, {"a", again}, {"b", won(70, 2)}, {"c", grabbed{outcome: "empty", claimed: 2}}}, nil},
		"a share twice":    {[]told{{"a", won(30, 1)}, {"b", won(30, 1)}}, []string{checkShare}},
		"two for one":      {[]told{{"a", won(30, 1)}, {"a", won(70, 2)}}, []string{checkShare}},
		"another amount":   {[]told{{"a", again}, {"a", won(31, 1)}}, []string{checkShare}},
		"no such share":    {[]told{{"a", won(30, 3)}}, []string{checkShare}},
		"nothing in it":    {[]told{{"a", won(0, 1)}}, []string{checkShare}},
		"empty too soon":   {[]told{{"a", won(30, 1)}, {"b", grabbed{outcome: "empty", claimed: 1}}}, []string{checkLeft}},
		"expired too soon": {[]told{{"a", grabbed{outcome: "expired"}}}, []string{checkLeft}},
	} {
		var seen checks
		p := newPot("p", nil, 100, 2)
		for _, one := range c.told {
			p.told(one.user, one.grabbed, &seen)
		}
		if got := broken(&seen); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// TestSums shows what can be wrong between what was told and what is stored.
func TestSums(t *testing.T) {
	a, b := share{30, 1}, share{70, 2}
	for name, c := range map[string]struct {
		told, stored     map[string]share
		drained, unknown bool // unknown: some were never answered
		wrong            bool
	}{
		"all is well":                    {told: map[string]share{"a": a, "b": b}, stored: map[string]share{"a": a, "b": b}, drained: true},
		"not drained yet":                {told: map[string]share{"a": a}, stored: map[string]share{"a": a}},
		"told, not stored":               {told: map[string]share{"a": a, "b": b}, stored: map[string]share{"a": a}, wrong: true},
		"stored, never told":             {told: map[string]share{"a": a}, stored: map[string]share{"a": a, "b": b}, drained: true, wrong: true},
		"stored, the answer got lost":    {told: map[string]share{"a": a}, stored: map[string]share{"a": a, "b": b}, drained: true, unknown: true},
		"another amount is stored":       {told: map[string]share{"a": a}, stored: map[string]share{"a": {31, 1}}, wrong: true},
		"drained, a share is nobody's":   {told: map[string]share{"a": a}, stored: map[string]share{"a": a}, drained: true, wrong: true},
		"drained, the sum is another":    {told: map[string]share{"a": a, "b": {60, 2}}, stored: map[string]share{"a": a, "b": {60, 2}}, drained: true, wrong: true},
		"more than there was in it":      {told: map[string]share{"a": a, "b": {71, 2}}, stored: map[string]share{"a": a, "b": {71, 2}}, wrong: true},
		"more shares than there were":    {unknown: true, stored: map[string]share{"a": {1, 1}, "b": {1, 2}, "c": {1, 3}}, wrong: true},
		"stored of one who was told not": {stored: map[string]share{"a": a}, wrong: true},
	} {
		var seen checks
		p := newPot("p", nil, 100, 2)
		for user, s := range c.told {
			if fault := p.give(user, s); fault != "" {
				t.Fatal(fault)
			}
		}
		p.add(c.stored, c.drained, !c.unknown, &seen)
		if got := broken(&seen); (got != nil) != c.wrong {
			t.Errorf("%s: found %q", name, got)
		}
	}
}
