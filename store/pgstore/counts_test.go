package pgstore

import (
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
)

// TestRoundTrips counts how often a call waits for Postgres when nothing else runs: so often its callers wait for the network. Each call is
// made several times, and the least count is taken, because the first call on a connection also asks for the types of its parameters.
func TestRoundTrips(t *testing.T) {
	if *citus {
		t.Skip("counted on one node")
	}
	t.Parallel()
	s, r := recordedStore(t)
	l := fundedRoom(t, s)
	ctx, at := t.Context(), l.At
	hot := l.Send("owner", "hot", redpacket.Lucky, redpacket.Classic, 100_000, 100)
	var open []redpacket.Packet
	for n := range repeats {
		open = append(open, l.Send("owner", fmt.Sprint("open-", n), redpacket.Lucky, redpacket.Classic, 100, 2))
	}
	paid := []redpacket.Claim{{Ref: hot.Ref, Share: 99, User: "user-99", At: at}}
	must(t, redpacket.UnsettledErr(s.Settle(ctx, paid)))
	for name, call := range map[string]struct {
		most int
		make func(n int) error
	}{
		"text": {5, func(n int) error {
			_, _, err := s.Append(ctx, textOf("owner", n))
			return err
		}},
		"standing": {1, func(int) error {
			_, err := s.Standing(ctx, room, "owner")
			return err
		}},
		"claim": {1, func(n int) error {
			return redpacket.UnsettledErr(s.Settle(ctx, []redpacket.Claim{{Ref: hot.Ref, Share: n, User: fmt.Sprint("user-", n), At: at}}))
		}},
		"repeated claim": {2, func(int) error { return redpacket.UnsettledErr(s.Settle(ctx, paid)) }},
		"send": {8, func(n int) error {
			l.Send("owner", fmt.Sprint("sent-", n), redpacket.Lucky, redpacket.Classic, 100, 2)
			return nil
		}},
		"end": {7, func(n int) error {
			l.End(open[n], redpacket.Expired)
			return nil
		}},
		"credit": {5, func(n int) error {
			_, _, err := s.Adjust(ctx, redpacket.Adjustment{ID: fmt.Sprint("credit-", n), User: "ann", Amount: 1, Key: fmt.Sprint("credit-", n), Hash: []byte("h"), At: at})
			return err
		}},
		"join": {14, func(n int) error {
			_, _, err := s.Join(ctx, chat.Joining{Room: room, User: fmt.Sprint("user-", n), At: at, MaxRooms: 9, MaxMembers: 99})
			return err
		}},
		"read": {5, func(int) error {
			_, err := s.Read(ctx, room, "owner", 1, at)
			return err
		}},
		"history": {1, func(int) error {
			_, _, err := s.History(ctx, room, chat.Page{Limit: 50})
			return err
		}},
		"wallet": {1, func(int) error {
			_, err := s.Account(ctx, "owner")
			return err
		}},
		"packet": {1, func(int) error {
			_, err := s.Details(ctx, redpacket.DetailsQuery{User: "owner", Packet: hot.ID, Limit: 50})
			return err
		}},
		"packets": {1, func(int) error {
			_, err := s.Packets(ctx, redpacket.PacketsQuery{Of: "owner", Direction: redpacket.DirReceived, Limit: 50})
			return err
		}},
		"rooms": {1, func(int) error {
			_, err := s.Memberships(ctx, "owner")
			return err
		}},
		"page of rooms": {1, func(int) error {
			_, _, err := s.MembershipsPage(ctx, "owner", "", 50)
			return err
		}},
		"find rooms": {3, func(int) error {
			_, _, err := s.FindRooms(ctx, "the", "", 50)
			return err
		}},
	} {
		least := 1 << 30
		for n := range repeats {
			before := r.waited()
			if err := call.make(n); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			least = min(least, r.waited()-before)
		}
		if least > call.most {
			t.Errorf("%s waits %d times for Postgres, want at most %d", name, least, call.most)
		}
	}
}

const repeats = 5

func textOf(user string, n int) chat.Draft {
	return chat.Draft{
		ID: fmt.Sprint("text-", n), Room: room, From: chat.User{ID: user}, Kind: chat.KindText, Key: fmt.Sprint("text-", n), Hash: []byte("h"),
		Body: []byte(`{"text":"a text of forty characters, as is usual"}`), At: time.UnixMilli(1_700_000_000_000),
	}
}

func (r *recorder) waited() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trips
}

// TestLogOfAClaimAndAText measures what Postgres writes to its log, and so sends to each standby: for a text that is committed alone, and for
// one of 100 claims in one commit. The server writes no whole pages, which depend on the time of a checkpoint.
func TestLogOfAClaimAndAText(t *testing.T) {
	if *citus {
		t.Skip("measured on one node")
	}
	enginetest.Need(t, "Postgres")
	t.Parallel()
	server, err := loopback.StartPostgres(t.Context(), t.TempDir())
	must(t, err)
	t.Cleanup(server.Stop)
	url, err := server.NewDatabase(t.Context())
	must(t, err)
	s := openStore(t, url)
	l := fundedRoom(t, s)
	conn := connect(t, url)
	for _, setting := range []string{"full_page_writes = off", "autovacuum = off"} {
		_, err := conn.Exec(t.Context(), "alter system set "+setting)
		must(t, err)
	}
	_, err = conn.Exec(t.Context(), "select pg_reload_conf()")
	must(t, err)
	written := func(do func()) int {
		var before, bytes int
		must(t, conn.QueryRow(t.Context(), `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`).Scan(&before))
		do()
		must(t, conn.QueryRow(t.Context(), `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`).Scan(&bytes))
		return bytes - before
	}
	text := func(n int) {
		_, _, err := s.Append(t.Context(), textOf("owner", n))
		must(t, err)
	}
	p := l.Send("owner", "p", redpacket.Lucky, redpacket.Classic, 100_000, 200)
	claims := func(from int) {
		var all []redpacket.Claim
		for n := range 100 {
			all = append(all, redpacket.Claim{Ref: p.Ref, Share: from + n, User: fmt.Sprint("user-", from+n), At: l.At})
		}
		must(t, redpacket.UnsettledErr(s.Settle(t.Context(), all)))
	}
	text(0)
	claims(0)
	for what, c := range map[string]struct{ bytes, most int }{
		"a text": {written(func() {
			for n := range 100 {
				text(1 + n)
			}
		}) / 100, 1300},
		"a claim": {written(func() { claims(100) }) / 100, 1400},
	} {
		if c.bytes > c.most {
			t.Errorf("%s takes %d bytes of the log, want at most %d", what, c.bytes, c.most)
		}
	}
}
