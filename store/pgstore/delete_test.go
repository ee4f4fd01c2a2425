package pgstore

import (
	"errors"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

func TestLargeRoomIsDeleted(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	storetest.TestLargeRoomIsDeleted(t, s, tables.GoneAtOnce, executor(t, s), func(query string) (n int) {
		must(t, s.withReader(t.Context(), func(r reader) error {
			_, err := r.Row(query, nil, &n)
			return err
		}))
		return n
	})
}

// TestCallsWhileTheRoomIsDeleted lets an instance judge calls of a member, whose row it has read already, while another one deletes the
// room. The deleted room must stay as it is.
func TestCallsWhileTheRoomIsDeleted(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(s *Store, at time.Time, seq int64) error{
		"reaction": func(s *Store, at time.Time, seq int64) error {
			_, err := s.Amend(t.Context(), chat.Amendment{ID: "reaction", Room: room, By: chat.User{ID: "owner"}, Kind: chat.KindReact, Target: seq, Emoji: "👍", On: true, At: at})
			return err
		},
		"leave": func(s *Store, at time.Time, _ int64) error {
			_, err := s.Leave(t.Context(), chat.Leaving{Room: room, User: chat.User{ID: "owner"}, At: at, EntryIDs: [2]string{"left", "heir"}})
			return err
		},
		"packet": func(s *Store, at time.Time, _ int64) error {
			_, err := s.Send(t.Context(), redpacket.UnsealedPacket{
				Packet: redpacket.Packet{
					Ref: redpacket.Ref{ID: "packet"}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: 10, Count: 2,
					CreatedAt: at, ExpiresAt: at.Add(time.Hour), Key: "packet",
				},
				Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "entry-packet",
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, migratedDatabase(t))
			l := fundedRoom(t, s)
			_, _, err := s.Append(t.Context(), textDraft(1))
			must(t, err)
			seq := lastSeq(t, s)
			var calling sync.WaitGroup
			must(t, holdTx(t, s, func(w *writer) error {
				if _, err := w.Exec(`select from rooms where id = $1 for update`, room); err != nil {
					return err
				}
				calling.Go(func() {
					if err := call(s, l.At, seq); !errors.Is(err, chat.ErrNotFound) {
						t.Errorf("in a deleted room: %v", err)
					}
				})
				awaitBlocked(t, s)
				_, err := w.Exec(`update rooms set deleted_at = 5, members = 0 where id = $1`, room)
				return err
			}))
			calling.Wait()
			r, err := s.Room(t.Context(), room)
			if err != nil || !r.Deleted || r.LastSeq != seq || r.Members != 0 {
				t.Errorf("%+v, %v; want it as it was deleted", r, err)
			}
		})
	}
}
