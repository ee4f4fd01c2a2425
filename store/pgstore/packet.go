package pgstore

import (
	"context"
	"strings"

	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// shares returns what those packets pay that exist. A packet whose shares cannot be decrypted is in
// unreadable, with the reason; in cut it has no amounts.
func (s *Store) shares(q tables.Querier, packets []string) (cut map[string]tables.Payout, unreadable map[string]error, err error) {
	cut, unknown := s.cuts.Cached(packets)
	if len(unknown) == 0 {
		return cut, nil, nil
	}
	read, err := tables.List(q, scanCut, `select p.id, p.sender, p.key, p.mode, p.spread, p.total, p.count, p.one_per_person, `+tables.CutColumns+`
		from packets p where p.id = any($1) /*! and p.bucket = any(buckets_of($1::text[])) */`, unknown)
	if err != nil {
		return nil, nil, err
	}
	unreadable = map[string]error{}
	for _, p := range read {
		pays := tables.Payout{OnePerPerson: p.packet.OnePerPerson}
		if _, pays.Shares, err = s.keys.Cut(p.packet, p.columns); err != nil {
			unreadable[p.packet.ID] = err
			continue
		}
		if cut[p.packet.ID] = pays; !p.columns.Draw {
			s.cuts.Put(p.packet.ID, pays)
		}
	}
	return cut, unreadable, nil
}

// storedCut is how one packet is cut, with the columns from which the shares follow.
type storedCut struct {
	packet  redpacket.Packet
	columns secret.Columns
}

func scanCut(rs tables.Row) (s storedCut, err error) {
	p := &s.packet
	err = rs.Scan(append([]any{&p.ID, &p.From.ID, &p.Key, &p.Mode, &p.Spread, &p.Total, &p.Count, &p.OnePerPerson}, tables.CutInto(pg.Dialect{}, &s.columns)...)...)
	return s, err
}

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
