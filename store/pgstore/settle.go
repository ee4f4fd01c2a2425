package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
)

// settling is one claim on its way through the claims' committer.
type settling struct {
	redpacket.Claim

	transfer string // the id of its movement, made once: by it a transaction that is run again knows its own work
	answer   redpacket.Settlement
}

// Settle implements redpacket.Ledger. Each claim is a job of its own: where Postgres refuses a row, the committer
// halves the batch until the poisonous one is alone.
func (s *Store) Settle(ctx context.Context, claims []redpacket.Claim) ([]redpacket.Settlement, error) {
	jobs := make([]*settling, len(claims))
	for i, c := range claims {
		jobs[i] = &settling{Claim: c, transfer: chat.NewID(c.At)}
	}
	settled := make([]redpacket.Settlement, len(claims))
	for i, err := range s.claims.doAll(ctx, jobs) {
		switch why := refusedRow(err); {
		case err == nil:
			settled[i] = jobs[i].answer
		case why == "":
			return nil, outcome("settle claims", err)
		default:
			settled[i] = unpayable(why)
		}
	}
	crashpoint.Here("settle.after-commit")
	return settled, nil
}

// settleAll settles a batch: it is paid in one transaction, and then told why the rest was not. That needs no
// transaction: claims never go, and a packet that is closed stays so.
func (s *Store) settleAll(ctx context.Context, jobs []*settling) error {
	return s.persist(ctx, func(w *writer) (committing bool, err error) {
		cut, err := s.shares(w, packetsOf(jobs))
		if err != nil {
			return false, err
		}
		b := sortBatch(jobs, cut)
		crashpoint.Here("settle.before-commit")
		if err := s.payBatch(w, b); err != nil {
			return true, err
		}
		return true, s.classify(w, b)
	})
}

func unpayable(why string) redpacket.Settlement {
	return redpacket.Settlement{Verdict: redpacket.Unpayable, Why: why}
}

// refusedRow is what Postgres has against a row, if that is what failed.
func refusedRow(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		switch class(failed.Code) {
		case "22", "23", "54": // data, integrity, program limits
			return failed.Message
		}
	}
	return ""
}
