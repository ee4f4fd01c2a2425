package pgstore

import (
	"errors"

	"hongbao/store/lineage"
)

// Recent implements lineage.Store.
func (s *Store) Recent() *lineage.Recent { return &s.recent }

// ForgetCached implements lineage.Store. It gives up the present chains, because their newest links may be lost. It keeps the
// cached shares of packets, because they never change.
func (s *Store) ForgetCached() {
	s.seeded.forget()
	s.chains.forget()
}

// OnLoss implements lineage.Store.
func (s *Store) OnLoss(lost func(reason string)) { s.onLoss.Store(&lost) }

// noteLoss calls the function of OnLoss if the error says that the newest link of the chain is lost. It does not call it for
// a chain that was given up: that may have lost links, and is not used again.
func (s *Store) noteLoss(l *link, err error) {
	if lost := s.onLoss.Load(); lost != nil && errors.Is(err, errTailLost) && l.chain.era == s.chains.present() {
		(*lost)(err.Error())
	}
}
