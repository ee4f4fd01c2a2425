package load

import (
	"fmt"
	"slices"
	"testing"
)

// entryAt returns an entry as it arrives.
func entryAt(seq int64) *entry {
	return &entry{offset: seq, seq: seq, id: fmt.Appendf(nil, "e-%d", seq), key: fmt.Appendf(nil, "k-%d", seq), at: seq}
}

// broken returns the names of the checks that failed.
func broken(c *checks) (names []string) {
	for _, one := range c.all() {
		if !one.Held {
			names = append(names, one.Name)
		}
	}
	slices.Sort(names)
	return names
}

// TestJournals checks that each kind of fault of a journal is found and named.
func TestJournals(t *testing.T) {
	for name, c := range map[string]struct {
		seqs []int64
		last int64 // highest seq of the room
		want []string
	}{
		"all is well":        {[]int64{1, 2, 3, 4}, 4, nil},
		"nothing is there":   {nil, 0, nil},
		"one is missing":     {[]int64{1, 2, 4}, 4, []string{checkComplete}},
		"the end is missing": {[]int64{1, 2}, 4, []string{checkComplete}},
		"one comes twice":    {[]int64{1, 2, 2, 3, 4}, 4, []string{checkOnce}},
		"an old one again":   {[]int64{1, 2, 3, 1, 4}, 4, []string{checkOnce}},
		"two are swapped":    {[]int64{1, 3, 2, 4}, 4, []string{checkOrder}},
		"no seq":             {[]int64{1, 0, 2}, 2, []string{checkOrder}},
		"far too high":       {[]int64{1, 1 << 40}, 1, []string{checkOrder}},
	} {
		var seen checks
		j := &journal{room: newRoom("r", "room:r"), user: "u"}
		for _, seq := range c.seqs {
			j.receive(entryAt(seq), &seen)
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
		one.receive(entryAt(1), &seen)
		other.receive(entryAt(1), &seen)
		if got := broken(&seen); got != nil {
			t.Fatalf("equal entries: %q", got)
		}
		one.receive(entryAt(2), &seen)
		e := entryAt(2)
		change(e)
		other.receive(e, &seen)
		if got := broken(&seen); !slices.Equal(got, []string{checkAgree}) {
			t.Errorf("another %s: found %q", name, got)
		}
	}
	var seen checks
	e := entryAt(1)
	e.seq = 2
	(&journal{room: newRoom("r", "room:r")}).receive(e, &seen)
	if got := broken(&seen); !slices.Equal(got, []string{checkOrder}) {
		t.Errorf("an entry with another seq than its offset: %q", got)
	}
}

// TestStored checks that each fault of a room's stored entries is found.
func TestStored(t *testing.T) {
	for name, c := range map[string]struct {
		entryAt, acked, stored []int64 // stored: by seq, the number of the entry
		want                   []string
	}{
		"all is well":                  {[]int64{1, 2, 3}, []int64{1, 3}, []int64{1, 2, 3}, nil},
		"acknowledged, not stored":     {[]int64{1}, []int64{1, 2}, []int64{1}, []string{checkAcked}},
		"acknowledged, another stored": {nil, []int64{1, 2}, []int64{1, 5}, []string{checkAcked}},
		"acknowledged, stored twice":   {[]int64{1}, []int64{1}, []int64{1, 1}, []string{checkAcked}},
		"received, not stored":         {[]int64{1, 2}, []int64{1}, []int64{1}, []string{checkStored}},
		"received, another is stored":  {[]int64{1, 2}, []int64{1}, []int64{1, 7}, []string{checkStored}},
		"stored, not received":         {[]int64{1}, []int64{1}, []int64{1, 2}, nil}, // found by the journal of a user that missed it
	} {
		var seen checks
		r := newRoom("r", "room:r")
		for _, seq := range c.entryAt {
			r.receive(entryAt(seq))
		}
		for _, seq := range c.acked {
			e := entryAt(seq)
			if !r.acknowledge(sent{seq: seq, id: e.id, at: e.at}, e.key) {
				t.Errorf("%s: seq %d: the acknowledgement is refused", name, seq)
			}
		}
		var stored []mark
		for _, seq := range c.stored {
			stored = append(stored, entryAt(seq).mark())
		}
		r.compare(stored, &seen)
		if got := broken(&seen); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
	r := newRoom("r", "room:r")
	if !r.acknowledge(sent{seq: 1, id: []byte("a")}, []byte("k")) || !r.acknowledge(sent{seq: 1, id: []byte("a")}, []byte("k")) {
		t.Error("the acknowledgement of one send twice is refused")
	}
	if r.acknowledge(sent{seq: 1, id: []byte("b")}, []byte("k2")) {
		t.Error("one seq was acknowledged for two sends: no fault")
	}
}

func won(amount int64, rank int) grabbed {
	return grabbed{outcome: "won", amount: amount, rank: rank, claimed: rank, count: 2}
}

// TestGrabs checks that each fault of answers to grabs is found.
func TestGrabs(t *testing.T) {
	type answers struct {
		user string
		grabbed
	}
	again := won(30, 1)
	again.outcome = "already"
	for name, c := range map[string]struct {
		answers []answers
		want    []string
	}{
		"all is well":      {[]answers{{"a", won(30, 1)}, {"a", again}, {"b", won(70, 2)}, {"c", grabbed{outcome: "empty", claimed: 2}}}, nil},
		"a share twice":    {[]answers{{"a", won(30, 1)}, {"b", won(30, 1)}}, []string{checkShare}},
		"two for one":      {[]answers{{"a", won(30, 1)}, {"a", won(70, 2)}}, []string{checkShare}},
		"another amount":   {[]answers{{"a", again}, {"a", won(31, 1)}}, []string{checkShare}},
		"no such share":    {[]answers{{"a", won(30, 3)}}, []string{checkShare}},
		"nothing in it":    {[]answers{{"a", won(0, 1)}}, []string{checkShare}},
		"empty too soon":   {[]answers{{"a", won(30, 1)}, {"b", grabbed{outcome: "empty", claimed: 1}}}, []string{checkLeft}},
		"expired too soon": {[]answers{{"a", grabbed{outcome: "expired"}}}, []string{checkLeft}},
	} {
		var seen checks
		p := newPacketLog("p", nil, 100, 2)
		for _, one := range c.answers {
			p.record(one.user, one.grabbed, &seen)
		}
		if got := broken(&seen); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// TestSums checks that each difference between answers and stored claims is found.
func TestSums(t *testing.T) {
	a, b := share{30, 1}, share{70, 2}
	for name, c := range map[string]struct {
		answers, stored  map[string]share
		drained, unknown bool // unknown: some grabs were never answered
		wrong            bool
	}{
		"all is well":                     {answers: map[string]share{"a": a, "b": b}, stored: map[string]share{"a": a, "b": b}, drained: true},
		"not drained yet":                 {answers: map[string]share{"a": a}, stored: map[string]share{"a": a}},
		"answered, not stored":            {answers: map[string]share{"a": a, "b": b}, stored: map[string]share{"a": a}, wrong: true},
		"stored, never answered":          {answers: map[string]share{"a": a}, stored: map[string]share{"a": a, "b": b}, drained: true, wrong: true},
		"stored, the answer got lost":     {answers: map[string]share{"a": a}, stored: map[string]share{"a": a, "b": b}, drained: true, unknown: true},
		"another amount is stored":        {answers: map[string]share{"a": a}, stored: map[string]share{"a": {31, 1}}, wrong: true},
		"drained, a share without a user": {answers: map[string]share{"a": a}, stored: map[string]share{"a": a}, drained: true, wrong: true},
		"drained, the sum is another":     {answers: map[string]share{"a": a, "b": {60, 2}}, stored: map[string]share{"a": a, "b": {60, 2}}, drained: true, wrong: true},
		"more than there was in it":       {answers: map[string]share{"a": a, "b": {71, 2}}, stored: map[string]share{"a": a, "b": {71, 2}}, wrong: true},
		"more shares than there were":     {unknown: true, stored: map[string]share{"a": {1, 1}, "b": {1, 2}, "c": {1, 3}}, wrong: true},
		"stored for a refused user":       {stored: map[string]share{"a": a}, wrong: true},
	} {
		var seen checks
		p := newPacketLog("p", nil, 100, 2)
		for user, s := range c.answers {
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
