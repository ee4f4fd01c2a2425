package redpacket

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"hongbao/chat"
)

const (
	auditPoll  = 5 * time.Second // between two checks whether an audit is due
	auditLimit = time.Hour       // an audit in the background that takes longer is given up
	auditShare = 20              // audits that no administrator asked for take at most one part in auditShare of the time
	auditRenew = time.Minute     // how often an audit that runs renews its lease
	auditStale = 5 * time.Minute // a lease that was not renewed for so long is void: its instance has probably died
	auditRetry = time.Minute     // the least pause after the failure of an audit that an administrator asked for; a new request ends it
)

// Checkpoint says up to where an audit has found no difference, so that the next one looks only at what is newer.
type Checkpoint struct {
	At    time.Time `json:"at"`    // when that audit began
	Whole time.Time `json:"whole"` // when the last audit began that looked at all rows
	Heads []Head    `json:"heads"`
}

// After returns the checkpoint after an audit that began at the given time, with Since set to the heads of c. A
// difference leaves the checkpoint as it is, so that the next audit finds it again.
func (c Checkpoint) After(at time.Time, a Audit) Checkpoint {
	if len(a.Differences) > 0 {
		return c
	}
	if len(c.Heads) == 0 {
		c.Whole = at
	}
	c.At, c.Heads = at, a.Heads
	return c
}

// AuditReport is the result of an audit.
type AuditReport struct {
	Audit

	At         time.Time  // when the audit began
	Checkpoint Checkpoint // for the next audit
}

// auditRecord is what all instances know about audits in the background. It is stored in the database, in a table that audits
// do not compare.
type auditRecord struct {
	Last   AuditReport   // of the last audit that has ended without an error
	Tried  time.Time     // when the last ended audit began, also if it failed
	Took   time.Duration // how long that audit took
	Failed bool          // that audit has failed, and no administrator has asked since
	Lease  auditLease    // of the audit that an instance is running; zero: none

	// When an administrator asked for an audit, and for one of all rows; zero: no administrator did. These times stay until
	// such an audit has ended without an error. So a request is not lost if the instance that began the audit dies.
	Asked, AskedWhole time.Time
}

// auditLease keeps other instances from auditing at the same time.
type auditLease struct {
	Owner   string    // drawn at random for each audit
	Began   time.Time // when the audit began
	Renewed time.Time // by the clock of the instance that audits
}

// due reports whether an instance may begin an audit. every is the time between two audits; 0: only when an administrator
// has asked.
func (r *auditRecord) due(now time.Time, every time.Duration) bool {
	tried := now.Sub(r.Tried).Abs() // Abs here and below: the time may come from a clock that is ahead
	switch {
	case now.Sub(r.Lease.Renewed).Abs() < auditStale:
		return false
	case !r.Asked.IsZero():
		return !r.Failed || tried >= r.Took+max(auditRetry, r.Took) // Tried is when the audit began
	}
	return every > 0 && tried >= max(every, auditShare*r.Took)
}

// Audit checks all books and returns the differences: see Ledger.Audit.
func (s *Service) Audit(ctx context.Context) (Audit, error) {
	return s.ledger.Audit(ctx, &AuditQuery{Now: s.o.Now()})
}

// LastAudit returns the report of the last audit in the background, of any instance. Before the first one it returns
// chat.ErrNotFound.
func (s *Service) LastAudit(ctx context.Context) (AuditReport, error) {
	r, _, err := s.auditRecord(ctx)
	if err == nil && r.Last.At.IsZero() {
		err = chat.ErrNotFound
	}
	return r.Last, err
}

// AskAudit makes an instance audit in the background soon: all rows if whole is true, otherwise rows that are newer than the
// last checkpoint. The audit begins at the returned time or later.
func (s *Service) AskAudit(ctx context.Context, whole bool) (at time.Time, err error) {
	now := s.o.Now()
	err = s.changeAudits(ctx, func(r *auditRecord) bool {
		at = later(now, r.Asked)
		if r.Lease.Owner != "" { // an audit that runs has read rows already, so another one must follow
			at = later(at, r.Lease.Began.Add(time.Millisecond))
		}
		r.Asked, r.Failed = at, false
		if whole {
			r.AskedWhole = at
		}
		return true
	})
	return at, err
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// auditIfDue runs an audit if one is due and no other instance is running one.
func (s *Service) auditIfDue(ctx context.Context) error {
	var (
		from  auditRecord
		began time.Time
		due   bool
		owner = rand.Text()
	)
	err := s.changeAudits(ctx, func(r *auditRecord) bool {
		if r.Lease.Owner == owner {
			return false // the lease was stored by a commit with unknown outcome, although SwapAuditRecord returned false
		}
		now := s.o.Now()
		from, due = *r, r.due(now, s.o.AuditEvery)
		began = later(now, r.Asked) // the clock of the instance that was asked may be ahead
		r.Lease = auditLease{Owner: owner, Began: began, Renewed: now}
		return due
	})
	if err != nil || !due {
		return err
	}
	since := from.Last.Checkpoint
	if !from.AskedWhole.IsZero() {
		since = Checkpoint{}
	}
	start := time.Now() // monotonic; s.o.Now may jump
	found, err := s.auditLeased(ctx, owner, &AuditQuery{Now: s.o.Now(), Since: since.Heads})
	took := time.Since(start)
	if err == nil {
		s.logAudit(found, len(since.Heads) == 0, took)
	}
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedTimeout)
	defer cancel()
	releaseErr := s.changeAudits(release, func(r *auditRecord) bool {
		if r.Lease.Owner != owner {
			return false // the lease was not renewed in time, and another instance has begun
		}
		r.Lease = auditLease{}
		if err != nil && ctx.Err() != nil {
			return true // this instance stops, and another one may begin at once
		}
		r.Tried, r.Took, r.Failed = began, took, err != nil
		if err != nil {
			return true
		}
		r.Last = AuditReport{Audit: found, At: began, Checkpoint: since.After(began, found)}
		if !r.Asked.After(began) {
			r.Asked = time.Time{}
		}
		if !r.AskedWhole.After(began) {
			r.AskedWhole = time.Time{}
		}
		return true
	})
	return errors.Join(err, releaseErr)
}

// auditLeased audits, and renews the lease of the owner meanwhile.
func (s *Service) auditLeased(ctx context.Context, owner string, q *AuditQuery) (Audit, error) {
	ctx, cancel := context.WithTimeout(ctx, auditLimit)
	var renewing sync.WaitGroup
	defer renewing.Wait()
	defer cancel()
	renewing.Go(func() {
		tick := time.NewTicker(s.auditRenew)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			err := s.changeAudits(ctx, func(r *auditRecord) bool {
				r.Lease.Renewed = s.o.Now()
				return r.Lease.Owner == owner
			})
			if err != nil { // the next tick tries again, well before the lease is stale
				s.o.Log.Debug("lease of an audit not renewed", "err", err)
			}
		}
	})
	return s.ledger.Audit(ctx, q)
}

func (s *Service) logAudit(a Audit, whole bool, took time.Duration) {
	log := s.o.Log.With("whole", whole, "took", took.Round(time.Millisecond), "quarantined", a.Quarantined)
	if n := len(a.Differences); n > 0 {
		log.Error("audit found differences: see GET /v1/admin/audit", "differences", n, "first", fmt.Sprint(a.Differences[0]))
		return
	}
	log.Info("audit found no difference")
}

// auditRecord reads the record, and the text that is stored for it.
func (s *Service) auditRecord(ctx context.Context) (r auditRecord, stored []byte, err error) {
	stored, err = s.ledger.AuditRecord(ctx)
	if err == nil && stored != nil {
		err = json.Unmarshal(stored, &r) //nolint:musttag // only this package reads the text
	}
	return r, stored, err
}

// changeAudits changes the record. If change returns false, nothing is stored. change is called again if another
// instance changes the record meanwhile, and also if the commit of the change itself had an unknown outcome.
func (s *Service) changeAudits(ctx context.Context, change func(*auditRecord) bool) error {
	for {
		r, stored, err := s.auditRecord(ctx)
		if err != nil || !change(&r) {
			return err
		}
		next, err := json.Marshal(r) //nolint:musttag // only this package reads the text
		if err != nil {
			return err
		}
		if swapped, err := s.ledger.SwapAuditRecord(ctx, stored, next); err != nil || swapped {
			return err
		}
	}
}

// QuarantineNote describes a claim that can never be paid.
func QuarantineNote(id string, share int64, user, why string, at time.Time) Difference {
	return Difference{Kind: "packet", ID: id, What: fmt.Sprintf("share %d of %s is in quarantine since %s: %s", share, user, at.UTC().Format(time.RFC3339), why)}
}
