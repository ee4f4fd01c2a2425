package pgstore

import (
	"context"
	"strings"

	"hongbao/redpacket"
	"hongbao/store/tables"
)

// Quarantine implements redpacket.Ledger. Ids that Postgres cannot store are changed to similar ones that it can.
func (s *Store) Quarantine(ctx context.Context, claims []redpacket.Claim, why string) error {
	n := len(claims)
	ats, packets, shares, users := make([]int64, n), make([]string, n), make([]int64, n), make([]string, n)
	for i, c := range claims {
		ats[i], packets[i], shares[i], users[i] = c.At.UnixMilli(), storableText(c.ID), int64(c.Share), storableText(c.User)
	}
	return tables.Outcome("quarantine claims", s.tx(ctx, func(w *writer) error {
		_, err := w.Exec(`insert into quarantine (at, packet_id, share_no, user_id, why)
			select at, packet_id, share_no, user_id, $5
			from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) i (at, packet_id, share_no, user_id)
			on conflict do nothing`, ats, packets, shares, users, storableText(why))
		return err
	}))
}

// longestName is the most bytes that storableText leaves of a text, so that the index of the table quarantine accepts it.
const longestName = 500

// storableText replaces what Postgres refuses in a text, invalid UTF-8 and the character U+0000, by U+FFFD. Then it cuts the text
// to longestName bytes.
func storableText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > longestName {
		text = strings.ToValidUTF8(text[:longestName], "")
	}
	return text
}
