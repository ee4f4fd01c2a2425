package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/store/secret"
	"hongbao/store/tables"
)

// UseKeys makes the store encrypt seeds and passphrases before it stores them, and decrypt them. It must be called
// before any method of redpacket.Ledger.
func (s *Store) UseKeys(keys *secret.Keys) { s.keys = keys }

// OpenPacketsByKey returns how many open packets are encrypted with each key, by its id in hex. The packets in clear have
// the id "".
func (s *Store) OpenPacketsByKey(ctx context.Context) (packets map[string]int, err error) {
	err = s.withReader(ctx, func(r reader) error {
		packets = map[string]int{}
		rs, err := r.Query(`select encode(substr(encrypted_seed, 2, 8), 'hex'), count(*) from packets where status = 'open' group by 1`)
		if err != nil {
			return err
		}
		var (
			id string
			n  int
		)
		_, err = pgx.ForEachRow(rs, []any{&id, &n}, func() error {
			packets[id] = n
			return nil
		})
		return err
	})
	return packets, tables.Outcome("count open packets by key", err)
}
