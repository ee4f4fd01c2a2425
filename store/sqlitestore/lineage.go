package sqlitestore

import (
	"context"
	"crypto/rand"
	"errors"

	"hongbao/redpacket"
	"hongbao/store/lineage"
)

// The names of the settings that are written together with the epoch.
const (
	settingEpoch = "epoch"
	// settingOpenBefore holds the time, in Unix milliseconds, at which the last packet was sent that was open when the epoch
	// began. It is absent when all of these packets are closed.
	settingOpenBefore = "open_before"
)

// State implements lineage.Store. A file has no identity, so State cannot tell that it was replaced. `hongbao restored` tells
// it, or noteLoss, when a running process finds its newest link gone.
func (s *Store) State(ctx context.Context) (st lineage.State, err error) {
	var epoch []byte
	found, err := (reader{ctx, s.read}).row(`select value from settings where name = ?`, []any{settingEpoch}, &epoch)
	if st.Epoch = string(epoch); err == nil && !found {
		st.Epoch, err = s.Epoch(ctx)
	}
	return st, outcome("read state of the database", err)
}

// Serve implements lineage.Store. It does nothing, because there is no other server.
func (s *Store) Serve(string) {}

// Recent implements lineage.Store. It is always empty, because a file never changes its identity.
func (s *Store) Recent() *lineage.Recent { return &s.recent }

// ForgetCached implements lineage.Store. It does nothing, because only shares of packets are cached, and they never change.
func (s *Store) ForgetCached() {}

// OnLoss implements lineage.Store.
func (s *Store) OnLoss(lost func(reason string)) { s.onLoss.Store(&lost) }

// noteLoss calls the function of OnLoss if the error says that the newest link of the chain is lost.
func (s *Store) noteLoss(err error) {
	if lost := s.onLoss.Load(); lost != nil && errors.Is(err, errTailLost) {
		(*lost)(err.Error())
	}
}

// Missing implements lineage.Store. It returns 0, because there are no marks.
func (s *Store) Missing(context.Context, []lineage.Mark) (int, error) { return 0, nil }

// Accept implements lineage.Store. It stores nothing, because a file has no identity.
func (s *Store) Accept(_ context.Context, read lineage.State) (lineage.State, error) {
	return read, nil
}

// Renew implements lineage.Store.
func (s *Store) Renew(ctx context.Context, read lineage.State) (now lineage.State, renewed *lineage.Renewed, err error) {
	err = s.do(ctx, func(w *writer) error {
		now, renewed = lineage.State{}, nil
		epoch, err := w.setting(settingEpoch, []byte(rand.Text()))
		if now.Epoch = string(epoch); err != nil || now.Epoch != read.Epoch {
			return err
		}
		renewed, err = w.renew()
		if err == nil {
			now.Epoch = renewed.Epoch
		}
		return err
	})
	if err != nil {
		return lineage.State{}, nil, outcome("begin an epoch", err)
	}
	return now, renewed, nil
}

func (w *writer) renew() (*lineage.Renewed, error) {
	begun := lineage.Renewed{Epoch: rand.Text()}
	forgotten, err := w.exec(`update users set next_seed = null where next_seed is not null`)
	if err != nil {
		return nil, err
	}
	if begun.Seeds, err = forgotten.RowsAffected(); err != nil {
		return nil, err
	}
	var newest string
	_, err = w.row(`select count(*), cast(coalesce(max(created_at), 0) as text) from packets where status = 'open'`, nil, &begun.Packets, &newest)
	if err == nil && begun.Packets > 0 {
		err = w.putSetting(settingOpenBefore, newest)
	}
	if err == nil {
		err = w.putSetting(settingEpoch, begun.Epoch)
	}
	return &begun, err
}

func (w *writer) putSetting(name, value string) error {
	_, err := w.exec(`insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value`, name, []byte(value))
	return err
}

// openFromBefore lists the open packets that were sent up to the time in a setting.
const openFromBefore = `select p.id, p.partition from packets p
	where p.status = 'open' and p.created_at <= (select cast(cast(value as text) as integer) from settings where name = ?1) and p.id > ?2
	order by p.id limit ?3`

// OpenFromBefore implements redpacket.Ledger.
func (s *Store) OpenFromBefore(ctx context.Context, after string, limit int) (open []redpacket.Ref, err error) {
	r := reader{ctx, s.read}
	var value []byte
	found, err := r.row(`select value from settings where name = ?`, []any{settingOpenBefore}, &value)
	if err == nil && found {
		open, err = rows(r, scanRef, openFromBefore, settingOpenBefore, after, limit)
	}
	if err == nil && found && after == "" && len(open) == 0 {
		err = s.do(ctx, func(w *writer) error {
			_, err := w.exec(`delete from settings where name = ? and value = ?`, settingOpenBefore, value)
			return err
		})
	}
	return open, outcome("list open packets from before the epoch", err)
}
