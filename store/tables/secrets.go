package tables

import (
	"context"
	"encoding/hex"

	"hongbao/store/secret"
)

// EncryptSeeds encrypts the next seeds that are stored in clear or with another key than the first. It leaves out those that
// it cannot decrypt. Each step is a transaction of its own, with at most secret.SeedStep users.
func (t Tables) EncryptSeeds(ctx context.Context) (secret.Reencrypted, error) {
	all, err := secret.EncryptAll(func(after string) (found []secret.StoredSeed, did secret.Reencrypted, err error) {
		err = t.db.Write(ctx, func(w Tx) error {
			found, did, err = encryptSeeds(w, after)
			return err
		})
		return found, did, err
	})
	return all, Outcome("encrypt seeds", err)
}

var scanUserSeed = into(func(u *secret.StoredSeed) []any { return []any{&u.User, &u.Stored} })

// encryptSeeds encrypts the seeds of the next users whose ids are greater than after. found are all seeds that it has read.
func encryptSeeds(w Tx, after string) (found []secret.StoredSeed, did secret.Reencrypted, err error) {
	found, err = List(w, scanUserSeed, `select id, next_seed from users where next_seed is not null and id > $1 order by id limit $2`+w.Lock(),
		after, secret.SeedStep)
	if err != nil {
		return nil, secret.Reencrypted{}, err
	}
	changed, did := w.Keys().Reencrypt(found)
	var b Batch
	for _, u := range changed {
		b.Exec(`update users set next_seed = $1 where id = $2`, u.Stored, u.User)
	}
	return found, did, w.Send(&b)
}

// OpenPacketsByKey returns how many open packets are encrypted with each key, by its id in hex. The packets in clear have
// the id "".
func (t Tables) OpenPacketsByKey(ctx context.Context) (packets map[string]int, _ error) {
	return read(ctx, t.db, "count open packets by key", func(q Querier) (map[string]int, error) {
		packets := map[string]int{}
		return packets, q.Each(func(row Row) error {
			var key []byte
			var n int
			err := row.Scan(&key, &n)
			packets[hex.EncodeToString(key)] = n
			return err
		}, `select substr(encrypted_seed, 2, 8), count(*) from packets where status = 'open' group by 1`)
	})
}
