package pgstore

import (
	"context"
	"crypto/rand"
)

// Epoch implements chat.Store. The first call on a database draws a random epoch. Renew replaces it.
func (s *Store) Epoch(ctx context.Context) (string, error) {
	value, err := s.DrawSetting(ctx, settingEpoch, func() []byte { return []byte(rand.Text()) })
	return string(value), err
}

// Setting returns the value that is stored under the name, or nil.
func (s *Store) Setting(ctx context.Context, name string) (value []byte, err error) {
	err = s.withReader(ctx, func(r reader) error {
		value, err = readSetting(r, name)
		return err
	})
	return value, outcome("read setting", err)
}

func readSetting(q querier, name string) (value []byte, err error) {
	_, err = q.row(`select value from settings where name = $1`, []any{name}, &value)
	return value, err
}

// DrawSetting returns the value that is stored under the name. If there is none, it stores and returns the result of draw.
func (s *Store) DrawSetting(ctx context.Context, name string, draw func() []byte) ([]byte, error) {
	value, err := s.Setting(ctx, name)
	if err != nil || value != nil {
		return value, err
	}
	err = s.tx(ctx, func(w *writer) error {
		if _, err := w.exec(`insert into settings (name, value) values ($1, $2) on conflict (name) do nothing`, name, draw()); err != nil {
			return err
		}
		value, err = readSetting(w, name) // in a separate statement, which sees a value that another transaction has stored meanwhile
		return err
	})
	return value, outcome("draw setting", err)
}

// PutSetting stores the value under the name.
func (s *Store) PutSetting(ctx context.Context, name string, value []byte) error {
	return outcome("store setting", s.tx(ctx, func(w *writer) error { return putSetting(w.reader, name, string(value)) }))
}

// settingAudit is the name of the setting for AuditRecord.
const settingAudit = "audit"

// AuditRecord implements redpacket.Ledger.
func (s *Store) AuditRecord(ctx context.Context) (stored []byte, err error) {
	err = s.withReader(ctx, func(r reader) error {
		_, err := r.row(`select value from settings where name = $1`, []any{settingAudit}, &stored)
		return err
	})
	return stored, outcome("read audit record", err)
}

// SwapAuditRecord implements redpacket.Ledger.
func (s *Store) SwapAuditRecord(ctx context.Context, old, next []byte) (swapped bool, err error) {
	query, args := `update settings set value = $2 where name = $1 and value = $3`, []any{settingAudit, next, old}
	if old == nil {
		query, args = `insert into settings (name, value) values ($1, $2) on conflict (name) do nothing`, args[:2]
	}
	err = s.tx(ctx, func(w *writer) error {
		n, err := w.exec(query, args...)
		swapped = n == 1
		return err
	})
	return swapped, outcome("store audit record", err)
}

// DeleteSetting deletes the value that is stored under the name, if there is one.
func (s *Store) DeleteSetting(ctx context.Context, name string) error {
	return outcome("delete setting", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`delete from settings where name = $1`, name)
		return err
	}))
}
