package redpacket

import "testing"

// TestStuckRows records claims that could not be settled. Later claims of their users count as stuck. Later claims of a
// packet count as stuck only if no claim of the packet was settled: otherwise its row is not locked. A packet stays stuck
// when another batch, that ends later, has settled a claim of it.
func TestStuckRows(t *testing.T) {
	var s stuckRows
	claim := func(packet, user string) Claim { return Claim{Ref: Ref{ID: packet}, User: user} }
	s.add([]Claim{claim("goes-on", "locked"), claim("stands", "ann")}, map[string]bool{"goes-on": true}, nil)
	s.add([]Claim{claim("stands", "carl")}, map[string]bool{"stands": true}, nil)
	for c, want := range map[Claim]bool{
		claim("other", "locked"): true, claim("stands", "bob"): true, claim("other", "ann"): true,
		claim("goes-on", "bob"): false, claim("other", "bob"): false,
	} {
		if s.has(c) != want {
			t.Errorf("%s of %s: stuck %t, want %t", c.User, c.ID, !want, want)
		}
	}
}
