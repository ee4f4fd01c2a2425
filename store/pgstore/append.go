package pgstore

import (
	"bytes"
	"context"

	"hongbao/chat"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// appendJob is one call of Append. The committer of entries fills in the result.
type appendJob struct {
	draft chat.Draft

	maybeCommitted bool // an earlier run of the job may have been committed
	entry          chat.Entry
	dup            bool
	err            error // a refusal
}

// Append implements chat.Store.
func (s *Store) Append(ctx context.Context, d chat.Draft) (chat.Entry, bool, error) {
	j := &appendJob{draft: d}
	err := s.entries.Do(ctx, j)
	if err == nil {
		err = j.err
	}
	if err != nil {
		return chat.Entry{}, false, tables.Outcome("append entry", err)
	}
	return j.entry, j.dup, nil
}

// appendAll runs a batch of jobs in one transaction. For skipLocked and locked see work.run.
func (s *Store) appendAll(ctx context.Context, jobs []*appendJob, skipLocked bool) (locked []string, err error) {
	err = s.groupTx(ctx, func(w *writer) (committing bool, err error) {
		for _, j := range jobs {
			j.maybeCommitted = j.maybeCommitted || w.maybeCommitted
		}
		free := jobs
		if skipLocked {
			if locked, err = beginFreeAppends(w, jobs); err != nil {
				return false, err
			}
			free = unlocked(jobs, locked)
		} else if err := w.begin(boundGroup); err != nil {
			return false, err
		}
		if err := w.appendFree(free); err != nil {
			return false, err
		}
		return true, w.commit()
	})
	return locked, err
}

// beginFreeAppends begins a transaction and locks the rows that the jobs need, without waiting. For each job, it
// returns the key of a row that another transaction has locked, or "".
func beginFreeAppends(w *writer, jobs []*appendJob) (locked []string, err error) {
	rooms, users := make([]string, len(jobs)), make([]string, len(jobs))
	for i, j := range jobs {
		rooms[i], users[i] = j.draft.Room, j.draft.From.ID
	}
	f := newFreeLocks(w.citus)
	f.want(memberRow, `select m.room_id || '/' || m.user_id from members m
		join unnest($1::text[], $2::text[]) i (room_id, user_id) on i.room_id = m.room_id and i.user_id = m.user_id`,
		` for update of m`, rooms, users)
	f.want(roomRow, `select id from rooms where id = any($1::text[])`, ` for update`, rooms)
	taken, err := f.begin(w)
	return lockedKeys(jobs, keysOfDraft, taken), err
}

func keysOfDraft(j *appendJob) [2]string {
	return [2]string{roomRow + j.draft.Room, memberRow + j.draft.Room + "/" + j.draft.From.ID}
}

// appendWork returns how the committer of entries runs its jobs.
func (s *Store) appendWork() batch.Work[*appendJob] {
	return batch.Work[*appendJob]{
		Span:     "postgres append",
		Run:      s.appendAll,
		Keys:     keysOfDraft,
		Wrote:    func(j *appendJob) bool { return j.err == nil && !j.dup },
		Judge:    judge,
		Patience: pg.Patience,
	}
}

// appendFree appends the drafts of the jobs in a transaction that has begun, and stores the answer in each job. It
// waits for the locks of rows that the transaction has not locked yet.
func (w *writer) appendFree(jobs []*appendJob) error {
	for _, j := range jobs {
		j.entry, j.dup, j.err = chat.Entry{}, false, nil
	}
	state, err := w.readAppendState(jobs)
	if err != nil {
		return err
	}
	accepted, repeats := w.triage(jobs, state)
	if err := w.appendAccepted(accepted); err != nil {
		return err
	}
	for _, r := range repeats {
		r.job.entry, r.job.dup, r.job.err = r.first.entry, r.first.err == nil, r.first.err
	}
	return nil
}

// repeat is a job whose idempotency key an earlier job of the same batch has: first.
type repeat struct{ job, first *appendJob }

// triage checks the jobs in order against the stored state. A job whose key is known gets the stored answer, a
// forbidden job is refused, and the rest are accepted. A later job with the key of an accepted one is a repeat, and
// gets that job's answer. If a key was used for other content, the answer is chat.ErrKeyReused.
func (w *writer) triage(jobs []*appendJob, state *appendState) (accepted []*appendJob, repeats []repeat) {
	first := map[userKey]*appendJob{}
	for _, j := range jobs {
		d := &j.draft
		key := userKey{d.From.ID, d.Key}
		if req, found := state.requests[key]; found {
			mine := j.maybeCommitted && req.entry.ID == d.ID // an earlier run of this call has made the entry
			j.entry, j.dup, j.err = req.entry, !mine, reused(req.hash, d.Hash)
			continue
		}
		if f := first[key]; f != nil {
			if j.err = reused(f.draft.Hash, d.Hash); j.err == nil {
				repeats = append(repeats, repeat{j, f})
			}
			continue
		}
		if j.err = d.Refusal(state.standing(d.Room, d.From.ID)); j.err == nil {
			first[key] = j
			accepted = append(accepted, j)
		}
	}
	return accepted, repeats
}

// reused returns chat.ErrKeyReused if the hashes differ: the key was first used for other content.
func reused(first, now []byte) error {
	if !bytes.Equal(first, now) {
		return chat.ErrKeyReused
	}
	return nil
}
