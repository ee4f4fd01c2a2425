package sqlitestore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/store/storetest"
)

// poison makes the claims of one user fail with the expression trouble, by a trigger, until the trigger is dropped.
func poison(t *testing.T, s *Store, user, trouble string) {
	t.Helper()
	alter(t, s, fmt.Sprintf(`create trigger poison_%s before insert on claims when new.user_id = '%[1]s' begin select %s; end`, user, trouble))
}

func alter(t *testing.T, s *Store, statement string) {
	t.Helper()
	noError(t, execute(t, s, statement))
}

// These expressions make a row fail. SQLite reports the first as a refused row, and the second as a general error.
const (
	refusedTrouble = `raise(abort, 'poisoned')`
	anyTrouble     = `abs(-9223372036854775808)` // integer overflow, SQLITE_ERROR
)

// fundedRoom creates a room whose owner has money.
func fundedRoom(t *testing.T, s *Store) *storetest.Life {
	t.Helper()
	l := &storetest.Life{TB: t, Ledger: s, Rooms: s, At: time.UnixMilli(1_700_000_000_000).UTC()}
	_, _, err := s.CreateRoom(t.Context(), chat.NewRoom{ID: room, Name: "room", Kind: chat.Public, Owner: chat.User{ID: "owner"},
		Key: "room", Hash: []byte("room"), At: l.At, MaxRooms: 1})
	l.Must(err)
	_, _, err = s.Adjust(t.Context(), redpacket.Adjustment{ID: "fund", User: "owner", Amount: 1 << 40, Key: "fund", Hash: []byte("h"), At: l.At})
	l.Must(err)
	return l
}

// TestPoisonClaimHurtsNoOther settles several claims in one call; one row is refused by SQLite or fails. The other
// claims must be paid.
func TestPoisonClaimHurtsNoOther(t *testing.T) {
	s := openStore(t, migratedFolder(t))
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 4)
	poison(t, s, "refused", refusedTrouble)
	poison(t, s, "failing", anyTrouble)
	var claims []redpacket.Claim
	for i, user := range []string{"ann", "failing", "bob", "refused"} {
		claims = append(claims, redpacket.Claim{Ref: p.Ref, Share: i, User: user, At: l.At})
	}
	settled := s.Settle(t.Context(), claims)
	for i, want := range []redpacket.Verdict{redpacket.PaidNow, redpacket.Unsettled, redpacket.PaidNow, redpacket.Unpayable} {
		if got := settled[i]; got.Verdict != want {
			t.Errorf("%s: %+v, want verdict %d", claims[i].User, got, want)
		}
	}
	if err := settled[1].Err; !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("an unsettled claim has the error %v", err)
	}
	alter(t, s, `drop trigger poison_failing`)
	if again := s.Settle(t.Context(), claims[:2]); again[0].Verdict != redpacket.Duplicate || again[1].Verdict != redpacket.PaidNow {
		t.Errorf("again: %+v", again)
	}
	if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 || a.Claims != 3 {
		t.Errorf("audit: %+v, %v", a, err)
	}
}

// TestFailedCommitBlamesNoClaim has SQLite refuse what a commit adds for all its jobs: the link or the row of the event stream. No claim is the cause, so none
// may be called unpayable.
func TestFailedCommitBlamesNoClaim(t *testing.T) {
	for _, table := range []string{"links", "events"} {
		t.Run(table, func(t *testing.T) {
			s := openStore(t, migratedFolder(t))
			kinds, err := eventlog.ParseKinds([]string{"*"})
			noError(t, err)
			s.UseEvents(kinds)
			l := fundedRoom(t, s)
			p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 4)
			claims := []redpacket.Claim{{Ref: p.Ref, Share: 0, User: "ann", At: l.At}, {Ref: p.Ref, Share: 1, User: "bob", At: l.At}}
			alter(t, s, fmt.Sprintf(`create trigger poison before insert on %s begin select %s; end`, table, refusedTrouble))
			for i, got := range s.Settle(t.Context(), claims) {
				if got.Verdict != redpacket.Unsettled || !errors.Is(got.Err, chat.ErrUnavailable) {
					t.Errorf("claim %d: %+v, want unsettled and unavailable", i, got)
				}
			}
			alter(t, s, `drop trigger poison`)
			for i, got := range s.Settle(t.Context(), claims) {
				if got.Verdict != redpacket.PaidNow {
					t.Errorf("claim %d again: %+v, want it paid", i, got)
				}
			}
		})
	}
}
