package sqlitestore

import (
	"context"
	"crypto/rand"
	"errors"

	"hongbao/store/lineage"
	"hongbao/store/tables"
)

// State implements lineage.Store. A file has no identity, so State cannot tell that it was replaced. The
// operator reports that with `hongbao restored`. A running process notices it when its newest link is gone (noteLoss).
func (s *Store) State(ctx context.Context) (st lineage.State, err error) {
	st.Epoch, err = s.Epoch(ctx)
	return st, err
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
		epoch, err := tables.ReadSetting(w, tables.SettingEpoch)
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
		return lineage.State{}, nil, tables.Outcome("begin an epoch", err)
	}
	return now, renewed, nil
}

func (w *writer) renew() (*lineage.Renewed, error) {
	begun := lineage.Renewed{Epoch: rand.Text()}
	var err error
	begun.Seeds, err = w.Exec(`update users set next_seed = null where next_seed is not null`)
	if err != nil {
		return nil, err
	}
	var newest string
	_, err = w.Row(`select count(*), cast(coalesce(max(created_at), 0) as text) from packets where status = 'open'`, nil, &begun.Packets, &newest)
	if err == nil && begun.Packets > 0 {
		_, err = w.Exec(tables.PutSettingQuery, tables.SettingOpenBefore, []byte(newest))
	}
	if err == nil {
		_, err = w.Exec(tables.PutSettingQuery, tables.SettingEpoch, []byte(begun.Epoch))
	}
	return &begun, err
}
