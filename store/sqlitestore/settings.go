package sqlitestore

import (
	"context"
	"crypto/rand"
)

// Epoch implements chat.Store. The first call on a file draws a random epoch. Renew replaces it.
func (s *Store) Epoch(ctx context.Context) (epoch string, err error) {
	err = s.do(ctx, func(w *writer) error {
		value, err := w.setting(settingEpoch, []byte(rand.Text()))
		epoch = string(value)
		return err
	})
	return epoch, outcome("read epoch", err)
}

// setting stores the value under the name unless there is one already. It returns the stored value.
func (w *writer) setting(name string, value []byte) (first []byte, err error) {
	if _, err := w.exec(`insert into settings (name, value) values (?, ?) on conflict (name) do nothing`, name, value); err != nil {
		return nil, err
	}
	_, err = w.row(`select value from settings where name = ?`, []any{name}, &first)
	return first, err
}

// Setting returns the value that is stored under the name. If there is none, it stores and returns the result of
// draw.
func (s *Store) Setting(ctx context.Context, name string, draw func() []byte) (value []byte, err error) {
	err = s.do(ctx, func(w *writer) error {
		value, err = w.setting(name, draw())
		return err
	})
	return value, outcome("read setting", err)
}
