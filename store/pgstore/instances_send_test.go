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
)

// TestInstancesSendFromOneWallet: it is never overdrawn, no seed is used twice, and a key sends once.
func TestInstancesSendFromOneWallet(t *testing.T) {
	const each, price, money = 40, 7, 300
	all := instances(t, 3)
	furnish(t, all[0])
	at := time.UnixMilli(1_700_000_000_000).UTC()
	_, _, err := all[0].Adjust(t.Context(), redpacket.Adjustment{ID: "fund", User: "owner", Amount: money, Key: "fund", Hash: []byte("h"), At: at})
	must(t, err)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		fresh = map[string]string{} // packet by commitment
		keys  = map[string]int{}
	)
	for i, s := range all {
		for n := range each {
			wg.Go(func() { // each request comes to two of the instances
				key := fmt.Sprint((i*each + n) / 2)
				id := fmt.Sprintf("%s-%d-%d", key, i, n)
				sent, err := s.Send(t.Context(), redpacket.Order{
					Packet: redpacket.Packet{Ref: redpacket.Ref{ID: id}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: price, Count: 2,
						CreatedAt: at, ExpiresAt: at.Add(time.Hour), Key: key},
					Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "e-" + id,
				})
				if err != nil {
					if !errors.Is(err, redpacket.ErrInsufficientBalance) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if other, used := fresh[sent.Packet.Commitment]; used && other != sent.Packet.ID {
					t.Errorf("packets %s and %s come from one seed", other, sent.Packet.ID)
				}
				fresh[sent.Packet.Commitment] = sent.Packet.ID
				if !sent.Dup {
					keys[key]++
				}
			})
		}
	}
	wg.Wait()
	for key, times := range keys {
		if times != 1 {
			t.Errorf("key %s sent %d packets", key, times)
		}
	}
	if acc, err := all[0].Account(t.Context(), "owner"); err != nil || acc.Balance != money%price || len(keys) != money/price {
		t.Errorf("%d packets sent, %+v, %v", len(keys), acc, err)
	}
	balanced(t, all[0])
}

// TestSendMeetsItsKey in another command of the same user, which is being committed: it is refused, and nothing is kept.
func TestSendMeetsItsKey(t *testing.T) {
	all := instances(t, 2)
	l := rich(t, all[0])
	var (
		wg   sync.WaitGroup
		sent atomic.Bool
	)
	must(t, all[0].tx(t.Context(), func(w *writer) error {
		if err := w.putRequest("owner", "key", []byte("other"), room, 0, ""); err != nil {
			return err
		}
		wg.Go(func() {
			defer sent.Store(true)
			_, err := all[1].Send(t.Context(), redpacket.Order{
				Packet: redpacket.Packet{Ref: redpacket.Ref{ID: "packet"}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: 10, Count: 2,
					CreatedAt: l.At, ExpiresAt: l.At.Add(time.Hour), Key: "key"},
				Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "entry",
			})
			if !errors.Is(err, chat.ErrKeyReused) {
				t.Errorf("got %v, want that the key was used", err)
			}
		})
		blockedOr(t, all[0], &sent)
		return nil
	}))
	wg.Wait()
	if got := lastSeq(t, all[0]); got != 0 {
		t.Errorf("last seq %d, want nothing kept", got)
	}
	balanced(t, all[0])
}

// TestSendsOfOneUserLeaveConnections to others, although they all wait for his row.
func TestSendsOfOneUserLeaveConnections(t *testing.T) {
	url := storetest.Database(t)
	s, other := openStore(t, url+"&pool_max_conns=3"), openStore(t, url)
	l := rich(t, other)
	_, err := s.PutUser(t.Context(), chat.User{ID: "ann"}, 0)
	must(t, err)
	busy := &storetest.Life{TB: t, Ledger: s, Rooms: s, At: l.At}
	var wg sync.WaitGroup
	must(t, other.tx(t.Context(), func(w *writer) error {
		if _, err := w.lockUsers([]string{"owner"}); err != nil {
			return err
		}
		for i := range 20 {
			wg.Go(func() { busy.Send("owner", fmt.Sprint("packet-", i), redpacket.Equal, "", 10, 1) })
		}
		blocked(t, other)
		for range 20 {
			if _, err := s.Account(t.Context(), "ann"); err != nil {
				t.Error(err)
			}
		}
		return nil
	}))
	wg.Wait()
	balanced(t, s)
}
