package pgstore

import (
	"strings"
	"testing"

	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

func TestManyRooms(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	storetest.TestManyRooms(t, s, executor(t, s))
}

// executor returns a function that runs a statement.
func executor(t *testing.T, s *Store) func(statement string) {
	return func(statement string) {
		t.Helper()
		must(t, s.tx(t.Context(), func(w *writer) error {
			_, err := w.Exec(statement)
			return err
		}))
	}
}

// TestTotalsReadIndexesOnly gives a user 5,000 wins and as many sent packets, among ten times as many of others. The totals of the user must
// come from indexes: the rows lie on hundreds of pages.
func TestTotalsReadIndexesOnly(t *testing.T) {
	if *citus {
		t.Skip("a coordinator of Citus explains no rows of its workers")
	}
	t.Parallel()
	s, r := recordedStore(t)
	conn := connect(t, r.url)
	must(t, pg.Simple(t.Context(), conn, `
		create temp table numbers as select n, case when n % 10 = 0 then 'ann' else 'bob' end as who from generate_series(1, 50000) n;
		insert into packets (id, partition, room_id, sender, sender_name, mode, spread, total, count, shares, greeting, seed, commitment, key, seq, status, created_at,
				expires_at, closed_at, refunded)
			select 'p' || n, 0, 'room', who, '', 'lucky', 'classic', 100, 2, '{50,50}', '', '', '', 'k' || n, 1, 'expired', n, 2 * n, 3 * n, 10 from numbers;
		insert into claims (packet_id, share_no, user_id, amount, at, transfer, luckiest) select 'p' || n, 0, who, 50, n, 't' || n, 0 = n % 50 from numbers;
		insert into transfers (id, at, debit, credit, amount, kind, user_id, packet_id, share_no)
			select 't' || n, 0 + n, 'packet:p' || n, 'user:' || who, 50, 'claim', who, 'p' || n, 0 from numbers`))
	for _, table := range []string{"packets", "claims", "transfers"} {
		must(t, pg.Simple(t.Context(), conn, `vacuum analyze `+table))
	}
	for direction, want := range map[redpacket.Direction]redpacket.Totals{
		redpacket.DirSent:     {Count: 5000, Amount: 5000 * 90},
		redpacket.DirReceived: {Count: 5000, Amount: 5000 * 50, Luckiest: 1000},
	} {
		page, err := s.Packets(t.Context(), redpacket.PacketsQuery{Of: "ann", Direction: direction, Limit: 10})
		must(t, err)
		if page.Totals != want || len(page.Packets) != 10 {
			t.Errorf("totals of %s packets %+v on a page of %d, want %+v", direction, page.Totals, len(page.Packets), want)
		}
	}
	sums := 0
	for text, sent := range r.sent {
		if strings.Contains(text, "coalesce(sum(") {
			u, ok := explain(t, conn, sent)
			if sums++; !ok || u.pages > 150 {
				t.Errorf("%v: read %d pages, want at most 150:\n%s", ok, u.pages, text)
			}
		}
	}
	if sums != 2 {
		t.Errorf("%d statements sum, want 2", sums)
	}
}

// TestLaterRainsAreNotRead has 5,000 open rains that begin later. The list of those that begin soon must not read them.
func TestLaterRainsAreNotRead(t *testing.T) {
	if *citus {
		t.Skip("a coordinator of Citus explains no rows of its workers")
	}
	t.Parallel()
	s, r := recordedStore(t)
	conn := connect(t, r.url)
	must(t, pg.Simple(t.Context(), conn, `
		insert into packets (id, partition, room_id, sender, sender_name, mode, spread, total, count, shares, greeting, seed, commitment, key, seq, status, created_at,
				expires_at, window_s, rest, waves, max_wins)
			select 'p' || n, -1, 'room', 'ann', '', 'lucky', 'classic', 100, 3, '{}', '', '', '', 'k' || n, 1, 'open', 0,
				(extract(epoch from clock_timestamp()) * 1000)::bigint + case when n <= 3 then 60000 else 600000 + n end, 60, 'refund', 3, 1
			from generate_series(1, 5000) n`))
	must(t, pg.Simple(t.Context(), conn, `vacuum analyze packets`))
	var ids []string
	for after := (redpacket.RainPlan{}); ; {
		page, err := s.OpenRains(t.Context(), after, 2)
		must(t, err)
		for _, plan := range page {
			ids, after = append(ids, plan.ID), plan
		}
		if len(page) < 2 {
			break
		}
	}
	if strings.Join(ids, " ") != "p1 p2 p3" {
		t.Errorf("rains %v begin soon, want the first three", ids)
	}
	for text, sent := range r.sent {
		if strings.Contains(text, "waves_drawn, seed") {
			if u, ok := explain(t, conn, sent); !ok || u.read > 5 || u.pages > 10 {
				t.Errorf("%v: read %d rows on %d pages:\n%s", ok, u.read, u.pages, text)
			}
			return
		}
	}
	t.Error("the statement was not seen")
}
