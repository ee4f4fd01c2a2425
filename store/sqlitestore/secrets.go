package sqlitestore

import (
	"context"

	"hongbao/store/secret"
	"hongbao/store/tables"
)

// UseKeys makes the store encrypt passphrases and seeds. It must be called before any method that reads or writes them.
func (s *Store) UseKeys(keys *secret.Keys) { s.keys = keys }

// OpenPacketsByKey returns how many open packets are encrypted with each key, by its id in hex. The packets in clear have
// the id "".
func (s *Store) OpenPacketsByKey(ctx context.Context) (map[string]int, error) {
	packets := map[string]int{}
	_, err := tables.List(s.reader(ctx), func(rs tables.Row) (id string, err error) {
		n := 0
		err = rs.Scan(&id, &n)
		packets[id] = n
		return id, err
	}, `select lower(hex(substr(encrypted_seed, 2, 8))), count(*) from packets where status = 'open' group by 1`)
	return packets, tables.Outcome("count open packets by key", err)
}
