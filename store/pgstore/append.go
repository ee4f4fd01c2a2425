package pgstore

import (
	"bytes"
	"context"

	"hongbao/chat"
)

// appending is one caller's Append on its way through the entries' committer, which fills in the answer.
type appending struct {
	draft chat.Draft

	entry chat.Entry
	dup   bool
	err   error // a refusal
}

// Append implements chat.Store.
func (s *Store) Append(ctx context.Context, d chat.Draft) (chat.Entry, bool, error) {
	j := &appending{draft: d}
	err := s.entries.do(ctx, j)
	if err == nil {
		err = j.err
	}
	if err != nil {
		return chat.Entry{}, false, outcome("append entry", err)
	}
	return j.entry, j.dup, nil
}

// appendAll answers a batch of jobs in one transaction.
func (s *Store) appendAll(ctx context.Context, jobs []*appending) error {
	return s.tx(ctx, func(w *writer) error {
		for _, j := range jobs {
			j.entry, j.dup, j.err = chat.Entry{}, false, nil
		}
		known, err := w.recall(jobs)
		if err != nil {
			return err
		}
		accepted, repeated := w.sift(jobs, known)
		if err := w.appendAccepted(accepted); err != nil {
			return err
		}
		for _, r := range repeated {
			r.job.entry, r.job.dup, r.job.err = r.first.entry, r.first.err == nil, r.first.err
		}
		return nil
	})
}

// repeat is a job whose key another one of the same batch has.
type repeat struct{ job, first *appending }

// sift judges the jobs in order. Those that are neither answered nor refused by what SQL knows are accepted; a later
// one with the same key is answered as that one will be.
func (w *writer) sift(jobs []*appending, known *recalled) (accepted []*appending, repeated []repeat) {
	first := map[userKey]*appending{}
	for _, j := range jobs {
		d := &j.draft
		key := userKey{d.From.ID, d.Key}
		if req, found := known.requests[key]; found {
			mine := w.again && req.entry.ID == d.ID // an earlier run of this very call has made it
			j.entry, j.dup, j.err = req.entry, !mine, reused(req.hash, d.Hash)
			continue
		}
		if f := first[key]; f != nil {
			if j.err = reused(f.draft.Hash, d.Hash); j.err == nil {
				repeated = append(repeated, repeat{j, f})
			}
			continue
		}
		if j.err = known.standing(d.Room, d.From.ID).MaySend(d.At); j.err == nil {
			first[key] = j
			accepted = append(accepted, j)
		}
	}
	return accepted, repeated
}

// reused refuses a key that stands for other content.
func reused(first, now []byte) error {
	if !bytes.Equal(first, now) {
		return chat.ErrKeyReused
	}
	return nil
}
