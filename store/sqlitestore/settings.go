package sqlitestore

import (
	"context"
	"crypto/rand"
)

// Epoch implements chat.Store. The first call on a file draws a random epoch. Renew replaces it.
func (s *Store) Epoch(ctx context.Context) (string, error) {
	value, err := s.DrawSetting(ctx, settingEpoch, func() []byte { return []byte(rand.Text()) })
	return string(value), err
}

// setting stores the value under the name unless there is one already. It returns the stored value.
func (w *writer) setting(name string, value []byte) (first []byte, err error) {
	if _, err := w.exec(`insert into settings (name, value) values (?, ?) on conflict (name) do nothing`, name, value); err != nil {
		return nil, err
	}
	_, err = w.row(`select value from settings where name = ?`, []any{name}, &first)
	return first, err
}

// Setting returns the value that is stored under the name, or nil.
func (s *Store) Setting(ctx context.Context, name string) (value []byte, err error) {
	err = s.do(ctx, func(w *writer) error {
		_, err := w.row(`select value from settings where name = ?`, []any{name}, &value)
		return err
	})
	return value, outcome("read setting", err)
}

// DrawSetting returns the value that is stored under the name. If there is none, it stores and returns the result of draw.
func (s *Store) DrawSetting(ctx context.Context, name string, draw func() []byte) (value []byte, err error) {
	err = s.do(ctx, func(w *writer) error {
		value, err = w.setting(name, draw())
		return err
	})
	return value, outcome("draw setting", err)
}

// PutSetting stores the value under the name.
func (s *Store) PutSetting(ctx context.Context, name string, value []byte) error {
	return outcome("store setting", s.do(ctx, func(w *writer) error { return w.putSetting(name, string(value)) }))
}

// settingAudit is the name of the setting for AuditRecord.
const settingAudit = "audit"

// AuditRecord implements redpacket.Ledger.
func (s *Store) AuditRecord(ctx context.Context) (stored []byte, err error) {
	_, err = (reader{ctx, s.read}).row(`select value from settings where name = ?`, []any{settingAudit}, &stored)
	return stored, outcome("read audit record", err)
}

// SwapAuditRecord implements redpacket.Ledger.
func (s *Store) SwapAuditRecord(ctx context.Context, old, next []byte) (swapped bool, err error) {
	query, args := `update settings set value = ?2 where name = ?1 and value = ?3`, []any{settingAudit, next, old}
	if old == nil {
		query, args = `insert into settings (name, value) values (?, ?) on conflict (name) do nothing`, args[:2]
	}
	err = s.do(ctx, func(w *writer) error {
		res, err := w.exec(query, args...)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		swapped = n == 1
		return err
	})
	return swapped, outcome("store audit record", err)
}

// DeleteSetting deletes the value that is stored under the name, if there is one.
func (s *Store) DeleteSetting(ctx context.Context, name string) error {
	return outcome("delete setting", s.do(ctx, func(w *writer) error {
		w.emptied = true // the write-ahead log is swept, too: the value may be a secret
		_, err := w.exec(`delete from settings where name = ?`, name)
		return err
	}))
}
