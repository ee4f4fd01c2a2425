package sqlitestore

import (
	"context"

	"hongbao/store/secret"
	"hongbao/store/tables"
)

// UseKeys makes the store encrypt passphrases and seeds. It must be called before any method that reads or writes them.
func (s *Store) UseKeys(keys *secret.Keys) { s.keys = keys }

// EncryptSeeds encrypts the next seeds that are stored in clear or with another key than the first. It leaves out those that
// it cannot decrypt. Each step is a job of its own, with at most secret.SeedStep users.
func (s *Store) EncryptSeeds(ctx context.Context) (secret.Reencrypted, error) {
	all, err := secret.EncryptAll(func(after string) (found []secret.StoredSeed, did secret.Reencrypted, err error) {
		err = s.do(ctx, func(w *writer) error {
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
	found, err = tables.List(w, scanUserSeed, `select id, next_seed from users where next_seed is not null and id > ? order by id limit ?`, after, secret.SeedStep)
	if err != nil {
		return nil, secret.Reencrypted{}, err
	}
	changed, did := w.keys.Reencrypt(found)
	for _, u := range changed {
		if _, err := w.Exec(`update users set next_seed = ? where id = ?`, u.Stored, u.User); err != nil {
			return nil, secret.Reencrypted{}, err
		}
	}
	return found, did, nil
}

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
