package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
)

// settleJob is one claim to settle. The committer of claims fills in the answer.
type settleJob struct {
	redpacket.Claim

	transfer string // id of the transfer, drawn once: by it a later run of the transaction recognises the work of an earlier one
	answer   redpacket.Settlement
}

// Settle implements redpacket.Ledger. Each claim is a job of its own: if Postgres refuses a row, the committer halves
// the batch until the failing claim is alone.
func (s *Store) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	jobs := make([]*settleJob, len(claims))
	for i, c := range claims {
		jobs[i] = &settleJob{Claim: c, transfer: chat.NewID(c.At)}
	}
	settled := make([]redpacket.Settlement, len(claims))
	for i, err := range s.claims.doAll(ctx, jobs) {
		switch why := rowRefusal(err); {
		case err == nil:
			settled[i] = jobs[i].answer
		case why == "":
			settled[i].Err = outcome("settle claim", err)
		default:
			settled[i] = unpayable(why)
		}
	}
	crashpoint.Here("settle.after-commit")
	return settled
}

// settleAll settles a batch. One transaction pays the claims that can be paid. Afterwards the other claims are
// answered, outside a transaction: claims are never deleted, and a closed packet stays closed.
func (s *Store) settleAll(ctx context.Context, jobs []*settleJob, skipLocked bool) (locked []string, err error) {
	err = s.groupTx(ctx, func(w *writer) (committing bool, err error) {
		cut, err := s.shares(w, packetsOf(jobs))
		if err != nil {
			return false, err
		}
		free := jobs
		if skipLocked {
			if locked, err = s.beginFreeClaims(w, jobs); err != nil {
				return false, err
			}
			free = unlocked(jobs, locked)
		}
		b := newClaimBatch(free, cut)
		b.begun = skipLocked
		crashpoint.Here("settle.before-commit")
		if err := s.payBatch(w, b); err != nil {
			return true, err
		}
		return true, s.classify(w, b)
	})
	return locked, err
}

// beginFreeClaims begins a transaction and locks the rows that the claims need, without waiting. For each claim it
// returns the key of a row that another transaction has locked, or "".
func (s *Store) beginFreeClaims(w *writer, jobs []*settleJob) (locked []string, err error) {
	users := make([]string, len(jobs))
	for i, j := range jobs {
		users[i] = j.User
	}
	f := newFreeLocks()
	f.want(packetRow, `select id from packets where id = any($1::text[])`, ` for share`, packetsOf(jobs))
	if unseeded := s.seeded.unknown(users); len(unseeded) > 0 {
		f.want(walletRow, `select id from users where id = any($1::text[])`, ` for no key update`, unseeded)
	}
	f.want(walletRow, `select user_id from wallets where user_id = any($1::text[])`, ` for no key update`, users)
	taken, err := f.begin(w)
	return lockedKeys(jobs, keysOfClaim, taken), err
}

// settleWork returns how the committer of claims runs its jobs.
func (s *Store) settleWork() work[*settleJob] {
	return work[*settleJob]{
		run:   s.settleAll,
		keys:  keysOfClaim,
		wrote: func(j *settleJob) bool { return j.answer.Verdict == redpacket.PaidNow },
	}
}

func keysOfClaim(j *settleJob) [2]string { return [2]string{packetRow + j.ID, walletRow + j.User} }

// OutOfReach implements redpacket.Ledger.
func (s *Store) OutOfReach() error { return s.pool.breaker.err() }

func unpayable(why string) redpacket.Settlement {
	return redpacket.Settlement{Verdict: redpacket.Unpayable, Why: why}
}

// rowRefusal returns why Postgres refuses the row of a claim, or "" if that row is not the cause of the error.
func rowRefusal(err error) string {
	var (
		failed *pgconn.PgError
		poison *poisonedError
	)
	switch {
	case errors.As(err, &poison) && sqlState(err) != "": // if the error is not from Postgres, the claim may have been committed
		return poison.Error()
	case invalidRow(err) && errors.As(err, &failed):
		return failed.Message
	}
	return ""
}
