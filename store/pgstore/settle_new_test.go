package pgstore

import (
	"testing"

	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// newClaims returns claims that look new to Settle: each says that it was just granted, and no user has two.
func newClaims(l *storetest.Life, p redpacket.Packet, users ...string) []redpacket.Claim {
	claims := make([]redpacket.Claim, len(users))
	for share, user := range users {
		claims[share] = redpacket.Claim{Ref: p.Ref, Share: share, User: user, Entry: "1-1", At: l.At}
	}
	return claims
}

// TestClaimsThatOnlyLookNew settles claims that look new together with one that is. The others are of users that were
// already paid, or for shares that are taken. Only the new one may be paid.
func TestClaimsThatOnlyLookNew(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 4)
	paid := s.Settle(t.Context(), newClaims(l, p, "ann", "bob"))
	settled := s.Settle(t.Context(), newClaims(l, p, "cy", "bob", "dan", "ann"))
	for i, want := range []redpacket.Settlement{
		{Verdict: redpacket.Conflict}, {Verdict: redpacket.Duplicate, Share: 1}, {Verdict: redpacket.PaidNow, Share: 2}, {Verdict: redpacket.Duplicate},
	} {
		if got := settled[i]; got.Verdict != want.Verdict || got.Share != want.Share {
			t.Errorf("claim %d: %+v, want %+v", i, got, want)
		}
	}
	acc, err := s.Account(t.Context(), "dan")
	l.Must(err)
	if settled[2].Account != acc || paid[0].Account.Balance != paid[0].Amount || acc.Balance != settled[2].Amount {
		t.Errorf("%+v, %+v; dan's account is %+v", paid[0], settled[2], acc)
	}
	wantBalanced(t, s)
}

// TestNewClaimsWhoseCommitWasLost loses the reply to a commit that pays new claims. The second run must find them and
// report them as PaidNow.
func TestNewClaimsWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	m := newFaultyLedger(t)
	p := m.packet(1000, 3)
	m.withCommitReplyLost(true, func() {
		settled := m.Settle(t.Context(), newClaims(m.life, p, "ann", "bob", "cy"))
		for i, user := range []string{"ann", "bob", "cy"} {
			if got := settled[i]; got.Verdict != redpacket.PaidNow || got.Account != m.account(user) || got.Account.Balance != got.Amount {
				t.Errorf("%s: %+v", user, got)
			}
		}
	})
	wantBalanced(t, m.direct)
}

// TestNewClaimsOfAPacketThatHasEnded settles claims of an ended packet together with others. The former are too late,
// and the others are paid.
func TestNewClaimsOfAPacketThatHasEnded(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 4)
	q := l.Send("owner", "another", redpacket.Lucky, redpacket.Classic, 1000, 4)
	_, err := s.End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done"})
	l.Must(err)
	settled := s.Settle(t.Context(), append(newClaims(l, p, "ann"), newClaims(l, q, "ann", "bob")...))
	for i, want := range []redpacket.Verdict{redpacket.TooLate, redpacket.PaidNow, redpacket.PaidNow} {
		if got := settled[i]; got.Verdict != want {
			t.Errorf("claim %d: %+v", i, got)
		}
	}
	wantBalanced(t, s)
}
