package pgstore

import (
	"context"
	"strings"

	"hongbao/redpacket"
)

// Quarantine implements redpacket.Ledger. What Postgres would not store, it stores as well as it can be.
func (s *Store) Quarantine(ctx context.Context, claims []redpacket.Claim, why string) error {
	n := len(claims)
	ats, packets, shares, users := make([]int64, n), make([]string, n), make([]int64, n), make([]string, n)
	for i, c := range claims {
		ats[i], packets[i], shares[i], users[i] = c.At.UnixMilli(), storable(c.ID), int64(c.Share), storable(c.User)
	}
	return outcome("quarantine claims", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`insert into quarantine (at, packet_id, share_no, user_id, why)
			select at, packet_id, share_no, user_id, $5
			from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) i (at, packet_id, share_no, user_id)
			on conflict do nothing`, ats, packets, shares, users, storable(why))
		return err
	}))
}

// longestName is what an index can take of a text, and more than a person needs.
const longestName = 500

// storable is the text with what Postgres refuses replaced: bytes that are no UTF-8, the character 0, and length.
func storable(text string) string {
	text = text[:min(len(text), longestName)]
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
