package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"hongbao/store/secret"
)

// DataKeyName is the name of the key file that embedded mode makes in the data folder.
const DataKeyName = "data.key"

// settingDataKeys is the name of the setting with the ids of all keys that the database needs, without separators.
const settingDataKeys = "data_keys"

// UseDataKey reads the data key, and makes the books encrypt with it. It must be called before the first use of b.Ledger.
// It fails with secret.ErrNoKey if the database needs a key that is missing.
//
// If the configuration names no key file, embedded mode uses data.key in the data folder. It makes that file if the file is
// missing and the database needs no key yet. In scaled mode without a key file, UseDataKey logs a warning, and passphrases and seeds
// are stored in clear.
func (b *Books) UseDataKey(ctx context.Context, c Config, log *slog.Logger) error {
	needed, err := b.sql.Setting(ctx, settingDataKeys)
	if err != nil {
		return fmt.Errorf("read which data key the database needs: %w", err)
	}
	keys, err := c.dataKeys(len(needed) > 0)
	if err != nil {
		return err
	}
	if err := keys.Check(needed); err != nil {
		return err
	}
	if keys == nil {
		log.Warn("no data key: passphrases, and seeds of open packets, are stored in clear", "remedy", "HONGBAO_DATA_KEY_FILE")
		return nil
	}
	if err := b.needKey(ctx, keys, needed); err != nil {
		return fmt.Errorf("store which data key the database needs: %w", err)
	}
	b.keys = keys
	b.sql.UseKeys(keys)
	return nil
}

// dataKeys reads the key file, and returns nil if there is no key file to read. needed says whether the database already
// needs a key.
func (c Config) dataKeys(needed bool) (*secret.Keys, error) {
	switch file := filepath.Join(c.DataDir, DataKeyName); {
	case c.DataKeyFile != "":
		return secret.Read(c.DataKeyFile)
	case c.Scaled():
		return nil, nil
	case needed:
		return secret.Read(file)
	default:
		return secret.ReadOrCreate(file)
	}
}

// needKey adds the id of the first key to the stored ids of the keys that the database needs. needed has the ids that are
// stored so far.
func (b *Books) needKey(ctx context.Context, keys *secret.Keys, needed []byte) (err error) {
	first := keys.First()
	if len(needed) == 0 {
		if needed, err = b.sql.DrawSetting(ctx, settingDataKeys, func() []byte { return first[:] }); err != nil {
			return err
		}
		if err := keys.Check(needed); err != nil { // another instance has just stored another key
			return err
		}
	}
	if secret.Contains(needed, first) {
		return nil
	}
	return b.sql.PutSetting(ctx, settingDataKeys, append(bytes.Clone(needed), first[:]...))
}

// Encrypted says what EncryptSeeds has done, and what is still not encrypted with the first key.
type Encrypted struct {
	Key     string             // id of the first key
	Seeds   secret.Reencrypted // next seeds of users
	Packets map[string]int     // number of open packets by the id of their key, if it is not the first; "": in clear
	InUse   bool               // an instance still encrypts with another key
	OnlyKey bool               // the database needs no other key
}

// EncryptSeeds encrypts with the first key all next seeds that are in clear or encrypted with another key, except those that it
// cannot decrypt. Packets stay as they were sent. If no next seed and no open packet is encrypted with another key any more,
// EncryptSeeds stores that the database needs only the first key. Passphrases of closed packets may still be encrypted with another
// key; they are not needed.
//
// Then EncryptSeeds waits for the pause, to find out whether an instance still encrypts with another key. Such an instance either
// encrypts something with that key meanwhile, or stores the id of that key again when it answers a readiness probe (checkKeys).
// If EncryptSeeds finds one of these, it restores the ids that were stored before, and sets InUse.
func (b *Books) EncryptSeeds(ctx context.Context, pause time.Duration) (done Encrypted, err error) {
	if b.keys == nil {
		return Encrypted{}, errors.New("there is no data key: set HONGBAO_DATA_KEY_FILE")
	}
	needed, err := b.sql.Setting(ctx, settingDataKeys)
	if err != nil {
		return Encrypted{}, err
	}
	first := b.keys.First()
	others, err := b.encrypt(ctx, &done)
	if err != nil || others {
		return done, err
	}
	if bytes.Equal(needed, first[:]) {
		done.OnlyKey = true
		return done, nil
	}
	if err := b.sql.PutSetting(ctx, settingDataKeys, first[:]); err != nil {
		return done, err
	}
	if done.InUse, err = b.othersAppear(ctx, &done, pause); err != nil || done.InUse {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
		defer cancel()
		return done, errors.Join(err, b.sql.PutSetting(ctx, settingDataKeys, needed))
	}
	done.OnlyKey = true
	return done, nil
}

// restoreTimeout bounds the write that restores which keys the database needs.
const restoreTimeout = 10 * time.Second

// encrypt encrypts all next seeds with the first key. It reports whether open packets still need another key, or seeds could
// not be decrypted.
func (b *Books) encrypt(ctx context.Context, done *Encrypted) (others bool, err error) {
	done.Key = b.keys.First().String()
	if done.Seeds, err = b.sql.EncryptSeeds(ctx); err != nil {
		return false, err
	}
	if done.Packets, err = b.sql.OpenPacketsByKey(ctx); err != nil {
		return false, err
	}
	delete(done.Packets, done.Key)
	for key := range done.Packets {
		others = others || key != ""
	}
	return others || done.Seeds.Failed > 0, nil
}

// othersAppear waits for the pause. Then it reports whether an instance has meanwhile encrypted with another key, or stored
// the id of another key.
func (b *Books) othersAppear(ctx context.Context, done *Encrypted, pause time.Duration) (bool, error) {
	after := time.After
	if b.after != nil {
		after = b.after
	}
	select {
	case <-after(pause):
	case <-ctx.Done():
		return false, ctx.Err()
	}
	var again Encrypted
	others, err := b.encrypt(ctx, &again)
	if err != nil {
		return false, err
	}
	done.Packets = again.Packets
	first := b.keys.First()
	stored, err := b.sql.Setting(ctx, settingDataKeys)
	return others || again.Seeds.Changed > 0 || !bytes.Equal(stored, first[:]), err
}

// checkKeys returns an error if the database needs a key that is missing. If the stored ids lack that of the first key, with
// which this instance encrypts, checkKeys adds it.
func (b *Books) checkKeys(ctx context.Context) error {
	needed, err := b.sql.Setting(ctx, settingDataKeys)
	if err != nil {
		return err
	}
	if err := b.keys.Check(needed); err != nil || b.keys == nil {
		return err
	}
	return b.needKey(ctx, b.keys, needed)
}
