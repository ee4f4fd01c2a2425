package pgstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// answerLimit is the longest that a caller of a store waits for an answer, from the call on.
const answerLimit = 5 * time.Second

// TestHungCommitIsAnsweredInTime makes each commit hang, as the commits of a Postgres do whose synchronous standby is dead. Twenty
// callers then use the store, one after the other and all at once. Each must be answered within 5 s of its call, whatever queue it is in.
// Once commits end again, the same calls must succeed.
func TestHungCommitIsAnsweredInTime(t *testing.T) {
	enginetest.Nightly(t, "waits")
	server := storetest.Postgres(t)
	url, err := server.NewDatabase(t.Context())
	must(t, err)
	s := openStore(t, url)
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Equal, "", 1000, 100)
	must(t, s.withReader(t.Context(), func(r reader) error {
		if err := pg.Simple(r.Ctx, r.Conn, `alter system set synchronous_standby_names = 'nobody'`); err != nil {
			return err
		}
		return pg.Simple(r.Ctx, r.Conn, `select pg_reload_conf()`)
	}))
	within(t, 10*time.Second, "commits hang", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		conn := connect(t, url)
		defer pg.CloseConn(conn)
		_, err := conn.Exec(ctx, `update users set name = 'x' where id = 'owner'`)
		return err != nil
	})
	calls := map[string]func(n int) error{
		"append": func(n int) error { _, _, err := s.Append(t.Context(), textDraft(n)); return err },
		"send one after the other": func(n int) error {
			_, err := s.Send(t.Context(), redpacket.UnsealedPacket{
				Packet: redpacket.Packet{Ref: redpacket.Ref{ID: fmt.Sprint("more-", n)}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal,
					Total: 10, Count: 1, CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour), Key: fmt.Sprint("more-", n)},
				Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: fmt.Sprint("e-more-", n),
			})
			return err
		},
		"settle": func(n int) error {
			return s.Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: n, User: fmt.Sprint("user-", n), Entry: "1", At: l.At}})[0].Err
		},
		"credit": func(n int) error { return credit(t, s, "owner", n) },
	}
	var all sync.WaitGroup
	for name, call := range calls {
		for n := range 20 {
			all.Go(func() {
				time.Sleep(time.Duration(n) * 300 * time.Millisecond) // sleeps: so that calls come while others wait
				began := time.Now()
				err := call(n)
				if took := time.Since(began); !errors.Is(err, chat.ErrUnavailable) || took > answerLimit {
					t.Errorf("%s %d: %v after %v, want unavailable within %v", name, n, err, took, answerLimit)
				}
			})
		}
	}
	all.Wait()
	must(t, pg.Simple(t.Context(), connect(t, server.URL("postgres")), `alter system reset synchronous_standby_names`))
	must(t, pg.Simple(t.Context(), connect(t, server.URL("postgres")), `select pg_reload_conf()`))
	for name, call := range calls {
		for n := range 20 {
			within(t, 30*time.Second, name, func() bool { return call(n) == nil })
		}
	}
	wantBalanced(t, s)
}
