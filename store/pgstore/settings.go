package pgstore

import (
	"context"
	"crypto/rand"
)

// Epoch implements chat.Store. The first call on a database draws a random epoch. Renew replaces it.
func (s *Store) Epoch(ctx context.Context) (string, error) {
	value, err := s.setting(ctx, settingEpoch, func() []byte { return []byte(rand.Text()) })
	return string(value), outcome("read epoch", err)
}

// Setting returns the value that is stored under the name. If there is none, it stores and returns the result of
// draw.
func (s *Store) Setting(ctx context.Context, name string, draw func() []byte) ([]byte, error) {
	value, err := s.setting(ctx, name, draw)
	return value, outcome("read setting", err)
}

func (s *Store) setting(ctx context.Context, name string, draw func() []byte) (value []byte, err error) {
	found := false
	read := func(q querier) error {
		found, err = q.row(`select value from settings where name = $1`, []any{name}, &value)
		return err
	}
	if err := s.withReader(ctx, func(r reader) error { return read(r) }); err != nil || found {
		return value, err
	}
	drawn := draw()
	err = s.tx(ctx, func(w *writer) error {
		if _, err := w.exec(`insert into settings (name, value) values ($1, $2) on conflict (name) do nothing`, name, drawn); err != nil {
			return err
		}
		return read(w) // in a separate statement, which sees a value that another transaction has stored meanwhile
	})
	return value, err
}
