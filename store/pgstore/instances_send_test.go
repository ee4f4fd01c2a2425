package pgstore

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

// TestInstancesSendFromOneWallet sends packets from one wallet through several instances at once. The wallet is never
// overdrawn, no seed is used twice, and each key sends one packet.
func TestInstancesSendFromOneWallet(t *testing.T) {
	t.Parallel()
	const each, price, money = 40, 7, 300
	all := instances(t, 3)
	createTestRoom(t, all[0])
	at := time.UnixMilli(1_700_000_000_000).UTC()
	_, _, err := all[0].Adjust(t.Context(), redpacket.Adjustment{ID: "fund", User: "owner", Amount: money, Key: "fund", Hash: []byte("h"), At: at})
	must(t, err)
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		bySeed = map[string]string{} // packet by commitment
		byKey  = map[string]string{}
		fresh  = map[string]int{} // by key
	)
	for i, s := range all {
		for n := range each {
			wg.Go(func() { // sends each request through two of the instances
				key := fmt.Sprint((i*each + n) / 2)
				id := fmt.Sprintf("%s-%d-%d", key, i, n)
				send := func() (redpacket.Sent, error) {
					return s.Send(t.Context(), redpacket.UnsealedPacket{
						Packet: redpacket.Packet{Ref: redpacket.Ref{ID: id}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: price, Count: 2,
							CreatedAt: at, ExpiresAt: at.Add(time.Hour), Key: key},
						Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "e-" + id,
					})
				}
				sent, err := send()
				for until := time.Now().Add(30 * time.Second); errors.Is(err, chat.ErrUnavailable) && time.Now().Before(until); {
					sent, err = send() // the wallet was locked for longer than the patience of a call
				}
				if err != nil {
					if !errors.Is(err, redpacket.ErrInsufficientBalance) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if other, used := bySeed[sent.Packet.Commitment]; used && other != sent.Packet.ID {
					t.Errorf("packets %s and %s have the same seed", other, sent.Packet.ID)
				}
				if other, used := byKey[key]; used && other != sent.Packet.ID {
					t.Errorf("key %s sent packets %s and %s", key, other, sent.Packet.ID)
				}
				bySeed[sent.Packet.Commitment], byKey[key] = sent.Packet.ID, sent.Packet.ID
				if !sent.Dup {
					fresh[key]++
				}
			})
		}
	}
	wg.Wait()
	for key, times := range fresh { // 0 times if a call committed the packet and could not know it
		if times > 1 {
			t.Errorf("key %s sent %d packets", key, times)
		}
	}
	if acc, err := all[0].Account(t.Context(), "owner"); err != nil || acc.Balance != money%price || len(byKey) != money/price {
		t.Errorf("%d packets sent, %+v, %v", len(byKey), acc, err)
	}
	wantBalanced(t, all[0])
}

// TestSendRefusesKeyOfConcurrentCommand sends with a key while another command of the user commits the same key. The
// send is refused, and nothing of it is stored.
func TestSendRefusesKeyOfConcurrentCommand(t *testing.T) {
	t.Parallel()
	all := instances(t, 2)
	l := fundedRoom(t, all[0])
	var (
		wg   sync.WaitGroup
		sent atomic.Bool
	)
	must(t, holdTx(t, all[0], func(w *writer) error {
		if err := tables.PutRequest(w, "owner", "key", []byte("other"), tables.Request{Room: room}); err != nil {
			return err
		}
		wg.Go(func() {
			defer sent.Store(true)
			_, err := all[1].Send(t.Context(), redpacket.UnsealedPacket{
				Packet: redpacket.Packet{Ref: redpacket.Ref{ID: "packet"}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: 10, Count: 2,
					CreatedAt: l.At, ExpiresAt: l.At.Add(time.Hour), Key: "key"},
				Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "entry",
			})
			if !errors.Is(err, chat.ErrKeyReused) {
				t.Errorf("got %v, want ErrKeyReused", err)
			}
		})
		awaitBlockedOr(t, all[0], &sent)
		return nil
	}))
	wg.Wait()
	if got := lastSeq(t, all[0]); got != 0 {
		t.Errorf("last seq %d, want no entry", got)
	}
	wantBalanced(t, all[0])
}

// TestSendDuringAKickIsRefused sends while another transaction ends the sender's membership. The send has read the standing
// before, and waits for the transaction. It must be refused, and nothing of it may be stored.
func TestSendDuringAKickIsRefused(t *testing.T) {
	t.Parallel()
	all := instances(t, 2)
	l := fundedRoom(t, all[0])
	_, _, err := all[0].Join(t.Context(), chat.Joining{Room: room, User: "ann", At: l.At, MaxRooms: 9, MaxMembers: 9})
	must(t, err)
	must(t, credit(t, all[0], "ann", 1))
	before := lastSeq(t, all[0])
	var (
		wg   sync.WaitGroup
		sent atomic.Bool
	)
	must(t, holdTx(t, all[0], func(w *writer) error {
		for _, kick := range []string{
			`update members set state = 'left' where room_id = 'room-1' and user_id = 'ann'`,
			`update rooms set members = members - 1 where id = 'room-1'`,
		} {
			if _, err := w.Exec(kick); err != nil {
				return err
			}
		}
		wg.Go(func() {
			defer sent.Store(true)
			_, err := all[1].Send(t.Context(), redpacket.UnsealedPacket{
				Packet: redpacket.Packet{Ref: redpacket.Ref{ID: "packet"}, Room: room, From: chat.User{ID: "ann"}, Mode: redpacket.Equal, Total: 1, Count: 1,
					CreatedAt: l.At, ExpiresAt: l.At.Add(time.Hour), Key: "key"},
				Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "entry",
			})
			if !errors.Is(err, chat.ErrNotMember) {
				t.Errorf("got %v, want ErrNotMember", err)
			}
		})
		awaitBlockedOr(t, all[0], &sent)
		return nil
	}))
	wg.Wait()
	if got := lastSeq(t, all[0]); got != before {
		t.Errorf("last seq %d, want no entry after %d", got, before)
	}
	wantBalanced(t, all[0])
}

// TestSendsOfOneUserLeaveConnectionsToOthers makes many sends wait for the row of one user. Calls of other users must
// find a connection.
func TestSendsOfOneUserLeaveConnectionsToOthers(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s, other := openStore(t, url+"&pool_max_conns=3"), openStore(t, url)
	l := fundedRoom(t, other)
	_, _, err := s.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "ann"}}, 0)
	must(t, err)
	busy := &storetest.Life{TB: t, Ledger: s, Rooms: s, At: l.At}
	var wg sync.WaitGroup
	must(t, holdTx(t, other, func(w *writer) error {
		if _, err := w.Exec(`select from users where id = 'owner' for update`); err != nil {
			return err
		}
		for i := range 20 {
			wg.Go(func() { busy.Send("owner", fmt.Sprint("packet-", i), redpacket.Equal, "", 10, 1) })
		}
		awaitBlocked(t, other)
		for range 20 {
			if _, err := s.Account(t.Context(), "ann"); err != nil {
				t.Error(err)
			}
		}
		return nil
	}))
	wg.Wait()
	wantBalanced(t, s)
}
