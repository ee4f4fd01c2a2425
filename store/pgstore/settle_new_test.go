package pgstore

import (
	"testing"

	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// fresh makes claims that look new: each was just granted, and nobody has two.
func fresh(l *storetest.Life, p redpacket.Packet, users ...string) []redpacket.Claim {
	claims := make([]redpacket.Claim, len(users))
	for share, user := range users {
		claims[share] = redpacket.Claim{Ref: p.Ref, Share: share, User: user, Entry: "1-1", At: l.At}
	}
	return claims
}

// TestClaimsThatLookNew: whoever has been paid meanwhile, or has lost his share to another, hurts nobody who is new.
func TestClaimsThatLookNew(t *testing.T) {
	s := openStore(t, storetest.Database(t))
	l := rich(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 4)
	paid, err := s.Settle(t.Context(), fresh(l, p, "ann", "bob"))
	l.Must(err)
	settled, err := s.Settle(t.Context(), fresh(l, p, "cy", "bob", "dan", "ann"))
	l.Must(err)
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
	balanced(t, s)
}

// TestNewClaimsWhoseCommitWasLost: run again they are there already, and were paid now all the same.
func TestNewClaimsWhoseCommitWasLost(t *testing.T) {
	m := newMoneyLine(t)
	p := m.packet(1000, 3)
	m.losingTheReply(true, func() {
		settled, err := m.Settle(t.Context(), fresh(m.life, p, "ann", "bob", "cy"))
		m.must(err)
		for i, user := range []string{"ann", "bob", "cy"} {
			if got := settled[i]; got.Verdict != redpacket.PaidNow || got.Account != m.account(user) || got.Account.Balance != got.Amount {
				t.Errorf("%s: %+v", user, got)
			}
		}
	})
	balanced(t, m.direct)
}

// TestNewClaimsOfAPacketThatHasEnded are too late, and cost nothing.
func TestNewClaimsOfAPacketThatHasEnded(t *testing.T) {
	s := openStore(t, storetest.Database(t))
	l := rich(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 4)
	q := l.Send("owner", "another", redpacket.Lucky, redpacket.Classic, 1000, 4)
	_, err := s.End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done"})
	l.Must(err)
	settled, err := s.Settle(t.Context(), append(fresh(l, p, "ann"), fresh(l, q, "ann", "bob")...))
	l.Must(err)
	for i, want := range []redpacket.Verdict{redpacket.TooLate, redpacket.PaidNow, redpacket.PaidNow} {
		if got := settled[i]; got.Verdict != want {
			t.Errorf("claim %d: %+v", i, got)
		}
	}
	balanced(t, s)
}
