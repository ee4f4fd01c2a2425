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

// settingDataKeys is the setting with the ids of all keys that the database needs, without separators.
const settingDataKeys = "data_keys"

// UseDataKey reads the data key, and makes the books encrypt with it. It must be called before the first call of the
// Ledger. It fails with secret.ErrNoKey if the database needs a key that is missing.
//
// If the configuration names no file, embedded mode uses data.key in the folder, and makes it if the database needs no key
// yet. Scaled mode then logs a warning and stores everything in clear.
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

// needKey adds the id of the first key to the stored ids of the keys that the database needs. needed has these ids.
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

// EncryptSeeds encrypts with the first key all next seeds that are in clear or encrypted with another key. Packets stay as
// they were sent. When nothing is encrypted with another key any more, it stores that the database needs only the first key,
// and waits for the pause. An instance that still encrypts with another key shows this meanwhile: a readiness probe makes it
// store the id of that key again (checkKeys), or it encrypts something with that key. Then EncryptSeeds stores again the ids
// that it had found, and sets InUse.
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

// othersAppear waits, and then reports whether an instance has encrypted with another key, or has stored that it does.
func (b *Books) othersAppear(ctx context.Context, done *Encrypted, pause time.Duration) (bool, error) {
	select {
	case <-time.After(pause):
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

// checkKeys returns an error if the database needs a key that is missing. If the database does not know that this instance
// encrypts with its first key, checkKeys stores it.
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
