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

// EncryptSeeds encrypts the next seeds that are stored in clear or with another key than the first. It leaves out those that
// it cannot decrypt. Each step is a transaction of its own, with at most secret.SeedStep users.
func (s *Store) EncryptSeeds(ctx context.Context) (secret.Reencrypted, error) {
	all, err := secret.EncryptAll(func(after string) (found []secret.StoredSeed, did secret.Reencrypted, err error) {
		err = s.tx(ctx, func(w *writer) error {
			found, did, err = w.encryptSeeds(after)
			return err
		})
		return found, did, err
	})
	return all, tables.Outcome("encrypt seeds", err)
}

func scanUserSeed(rs tables.Row) (u secret.StoredSeed, err error) {
	err = rs.Scan(&u.User, &u.Stored)
	return u, err
}

// encryptSeeds encrypts the seeds of the next users whose ids are greater than after. found are all seeds that it has read.
func (w *writer) encryptSeeds(after string) (found []secret.StoredSeed, did secret.Reencrypted, err error) {
	found, err = tables.List(w, scanUserSeed, `select id, next_seed from users
		where next_seed is not null and id > $1 order by id limit $2 for update`, after, secret.SeedStep)
	if err != nil {
		return nil, secret.Reencrypted{}, err
	}
	changed, did := w.keys.Reencrypt(found)
	if len(changed) == 0 {
		return found, did, nil
	}
	ids, seeds := make([]string, len(changed)), make([][]byte, len(changed))
	for i, u := range changed {
		ids[i], seeds[i] = u.User, u.Stored
	}
	_, err = w.Exec(`update users u set next_seed = i.seed from unnest($1::text[], $2::bytea[]) i (id, seed) where u.id = i.id`, ids, seeds)
	return found, did, err
}

// OpenPacketsByKey returns how many open packets are encrypted with each key, by its id in hex. The packets in clear have
// the id "".
func (s *Store) OpenPacketsByKey(ctx context.Context) (packets map[string]int, err error) {
	err = s.withReader(ctx, func(r reader) error {
		packets = map[string]int{}
		rs, err := r.query(`select encode(substr(encrypted_seed, 2, 8), 'hex'), count(*) from packets where status = 'open' group by 1`)
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
