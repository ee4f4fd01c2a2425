package eventlog

import (
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// TestEventWhoseFactComesLaterIsNotSkipped reads rows whose second entry is not visible yet, as on Citus before the commit on its worker. The page must
// end before it, in all chains, and go on from there once it is visible. After VisibleWithin it becomes a fault.
func TestEventWhoseFactComesLaterIsNotSkipped(t *testing.T) {
	kinds := Kinds{MessageNew: true}
	now := time.UnixMilli(1_700_000_000_000)
	row := func(chain, id int64, seqs ...int64) Row {
		c := Collect(kinds)
		for _, seq := range seqs {
			c.Entry("room", seq, chat.KindText)
		}
		refs, err := c.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return Row{Chain: chain, ID: id, At: now.Add(-time.Second), Refs: refs}
	}
	rows := []Row{row(3, 90, 6, 7, 8), row(4, 91, 9), row(3, 92, 10)}
	facts := func(seqs ...int64) Facts {
		f := Facts{Entries: map[EntryKey]chat.Entry{}}
		for _, seq := range seqs {
			f.Entries[EntryKey{"room", seq}] = chat.Entry{Room: "room", Seq: seq, Kind: chat.KindText}
		}
		return f
	}
	q := Query{Kinds: kinds, Limit: 10}
	seqs := func(b Batch) (all []int64) {
		for _, e := range b.Events {
			all = append(all, e.Entry.Seq)
		}
		return all
	}
	first := Read(q, "E", 0, rows, true).Batch(facts(6, 9, 10), now)
	if got := seqs(first); len(got) != 1 || got[0] != 6 || len(first.Faults) > 0 || first.More || first.Waits == nil {
		t.Fatalf("entries %v, faults %v, more %v, waits for %v; want entry 6, and that the page waits for entry 7", got, first.Faults, first.More, first.Waits)
	}
	q.After = first.Next
	again := Read(q, "E", 0, rows, false).Batch(facts(6, 9, 10), now)
	if len(again.Events) > 0 || again.Next.String() != first.Next.String() || again.Waits == nil {
		t.Errorf("read again while entry 7 is not visible: %v, %v", seqs(again), again.Waits)
	}
	rest := Read(q, "E", 0, rows, false).Batch(facts(6, 7, 8, 9, 10), now)
	if got := seqs(rest); len(got) != 4 || got[0] != 7 || got[1] != 8 || got[2] != 9 || got[3] != 10 || rest.Waits != nil {
		t.Errorf("once all are visible: %v, want 7 to 10", got)
	}
	late := Read(q, "E", 0, rows, false).Batch(facts(6, 8, 9, 10), now.Add(VisibleWithin))
	if got := seqs(late); len(got) != 3 || len(late.Faults) != 1 || late.Waits != nil {
		t.Errorf("when the row is old: %v, faults %v; want three entries and a fault", got, late.Faults)
	}
}

// TestLedgerWaitsForVisibleLinks has links whose rows or transfers are not visible yet. The ledger must end before the first of them, and not wait for old
// ones.
func TestLedgerWaitsForVisibleLinks(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	links := []LinkKey{{1, 10, now, 2}, {2, 11, now, 1}, {1, 12, now, 1}}
	send := func(link int64) LedgerRow {
		return LedgerRow{Link: link, Transfer: redpacket.LedgerTransfer{Transfer: redpacket.Transfer{Kind: redpacket.TransferSend}}}
	}
	for _, test := range []struct {
		name  string
		rows  map[int64]LinkRows
		found []LedgerRow
		at    time.Time
		want  int
	}{
		{"all are visible", map[int64]LinkRows{10: {2, 1}, 11: {1, 0}, 12: {1, 0}}, []LedgerRow{send(10)}, now, 3},
		{"one of two rows is", map[int64]LinkRows{10: {1, 0}, 11: {1, 0}, 12: {1, 0}}, nil, now, 0},
		{"no row of the second link is", map[int64]LinkRows{10: {2, 0}, 12: {1, 0}}, nil, now, 1},
		{"the packet is, the transfer of its sender is not", map[int64]LinkRows{10: {2, 0}, 11: {1, 1}, 12: {1, 0}}, nil, now, 1},
		{"nothing is, and the links are old", nil, nil, now.Add(VisibleWithin), 3},
	} {
		if got := VisibleLinks(links, test.rows, test.found, test.at); len(got) != test.want {
			t.Errorf("%s: %d links are read, want %d", test.name, len(got), test.want)
		}
	}
	if young := YoungLinks(append(links, LinkKey{1, 9, now.Add(-VisibleWithin), 1}), now); len(young) != 3 {
		t.Errorf("%d links are young, want 3", len(young))
	}
}
