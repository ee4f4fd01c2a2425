package tables

import (
	"context"
	"crypto/rand"
	"strconv"

	"hongbao/redpacket"
)

// Names of settings. When a new epoch begins, one transaction writes SettingEpoch and, if a packet is open, SettingOpenBefore.
// Epoch draws the first epoch of a database.
const (
	SettingEpoch = "epoch"
	// SettingOpenBefore holds the time, in Unix milliseconds, at which the last packet was sent that was open when the
	// epoch began. OpenFromBefore deletes it when it finds that all of these packets are closed.
	SettingOpenBefore = "open_before"
)

// Epoch implements chat.Store. The first call on a database draws a random epoch. Renew of lineage.Store replaces it.
func (t Tables) Epoch(ctx context.Context) (string, error) {
	value, err := t.DrawSetting(ctx, SettingEpoch, func() []byte { return []byte(rand.Text()) })
	return string(value), err
}

// Setting returns the value that is stored under the name, or nil.
func (t Tables) Setting(ctx context.Context, name string) ([]byte, error) {
	return read(ctx, t.db, "read setting", func(q Querier) ([]byte, error) { return ReadSetting(q, name) })
}

// ReadSetting returns the value that is stored under the name, or nil.
func ReadSetting(q Querier, name string) (value []byte, err error) {
	_, err = q.Row(`select value from settings where name = $1`, []any{name}, &value)
	return value, err
}

// DrawSetting returns the value that is stored under the name. If there is none, it stores and returns the result of
// draw. Of several calls at once, one stores the result of its draw, and all return that result.
func (t Tables) DrawSetting(ctx context.Context, name string, draw func() []byte) (value []byte, err error) {
	if value, err = t.Setting(ctx, name); err != nil || value != nil {
		return value, err
	}
	return write(ctx, t.db, "draw setting", func(w Tx, _ []byte) ([]byte, error) {
		if _, err := w.Exec(`insert into settings (name, value) values ($1, $2) on conflict (name) do nothing`, name, draw()); err != nil {
			return nil, err
		}
		return ReadSetting(w, name) // in a separate statement, which sees a value that another transaction has stored meanwhile
	})
}

// PutSetting stores the value under the name.
func (t Tables) PutSetting(ctx context.Context, name string, value []byte) error {
	return exec(ctx, t.db, "store setting", PutSettingQuery, name, value)
}

// PutSettingQuery stores the value $2 under the name $1.
const PutSettingQuery = `insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`

// settingAudit is the name of the setting for AuditRecord.
const settingAudit = "audit"

// AuditRecord implements redpacket.Ledger.
func (t Tables) AuditRecord(ctx context.Context) ([]byte, error) {
	return t.Setting(ctx, settingAudit)
}

// SwapAuditRecord implements redpacket.Ledger.
func (t Tables) SwapAuditRecord(ctx context.Context, old, next []byte) (swapped bool, _ error) {
	query, args := `update settings set value = $2 where name = $1 and value = $3`, []any{settingAudit, next, old}
	if old == nil {
		query, args = `insert into settings (name, value) values ($1, $2) on conflict (name) do nothing`, args[:2]
	}
	return write(ctx, t.db, "store audit record", func(w Tx, _ bool) (bool, error) {
		n, err := w.Exec(query, args...)
		return n == 1, err
	})
}

// OpenFromBefore implements redpacket.Ledger.
func (t Tables) OpenFromBefore(ctx context.Context, after string, limit int) (open []redpacket.Ref, err error) {
	var value []byte
	err = t.db.Read(ctx, func(q Querier) error {
		open = nil
		if value, err = ReadSetting(q, SettingOpenBefore); err != nil || value == nil {
			return err
		}
		sent, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return err
		}
		open, err = List(q, scanRef, `select p.id, p.partition from packets p
			where p.status = 'open' and p.created_at <= $1 and p.id > $2
				and (p.window_s = 0 or p.drawn_at > 0 or p.expires_at <= `+q.Clock()+`) order by p.id limit $3`, sent, after, limit)
		return err
	})
	if err == nil && value != nil && after == "" && len(open) == 0 {
		err = exec(ctx, t.db, "list open packets from before the epoch", `delete from settings where name = $1 and value = $2`, SettingOpenBefore, value)
	}
	return open, Outcome("list open packets from before the epoch", err)
}
