package lineage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// checkEvery is how often the state of the database is read, and the own note is saved.
	checkEvery = time.Second
	// notesPatience is how long a comparison waits for the notes. After that they count as lost.
	notesPatience = 10 * time.Second
	// notesRetry is the pause between two tries to load the notes at the start.
	notesRetry = 250 * time.Millisecond
	// lastSave bounds the time to save the note when the instance stops.
	lastSave = 2 * time.Second
)

// Options configures a Watch. Store, Changed, Back and Log must be set.
type Options struct {
	Store    Store
	Notes    Notes  // nil: this is the only instance, and no notes are kept
	Instance string // name of this instance among the notes
	// Changed is called when everything that this instance remembers from SQL must be dropped. renewed says that the epoch
	// is another one than before, so that seqs which clients know may name other entries.
	Changed func(epoch string, renewed bool)
	// Back is called when a check of the database succeeds after one or more that have failed.
	Back func()
	Log  *slog.Logger
}

// Watch notices that the database has gone back in time.
type Watch struct {
	// static after New
	o    Options
	wake chan struct{} // one slot

	lost atomic.Pointer[string] // reason why something is known to be missing; nil: nothing is known

	// used by Start, and then by Run only
	epoch, identity string    // what this instance serves; "": it has not started
	inherited       []Mark    // marks of this epoch that the notes had when this instance started
	unknownSince    time.Time // since when the notes cannot be loaded; zero: the last try has loaded them
	failing         bool      // the last check failed
}

// New returns a watch. Call Start before the store serves, and then Run.
func New(o Options) *Watch {
	w := &Watch{o: o, wake: make(chan struct{}, 1)}
	o.Store.OnLoss(w.Lost)
	return w
}

// Lost says that the database lacks something that it has committed. The next check then begins a new epoch, unless another instance
// has begun one. Lost does not block.
func (w *Watch) Lost(reason string) {
	w.lost.CompareAndSwap(nil, &reason)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// errNotesUnknown means that the notes cannot be loaded, and that it is too early to count them as lost.
var errNotesUnknown = errors.New("notes outside SQL cannot be read yet")

// Start compares the database with the notes, and blocks until it is decided which epoch this instance serves. It fails at
// once if the database does not answer.
func (w *Watch) Start(ctx context.Context) error {
	for {
		err := w.check(ctx)
		if !errors.Is(err, errNotesUnknown) {
			w.save(ctx)
			return err
		}
		select {
		case <-time.After(notesRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Run checks the state of the database until ctx is done. Then it saves the last note.
func (w *Watch) Run(ctx context.Context) error {
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSave)
			defer cancel()
			w.save(ctx)
			return nil
		case <-ticker.C:
		case <-w.wake:
		}
		w.record(ctx, w.check(ctx))
		w.save(ctx)
	}
}

// record logs the first of several failures in a row, and calls Back after the last.
func (w *Watch) record(ctx context.Context, err error) {
	switch {
	case err != nil && !w.failing && ctx.Err() == nil:
		w.o.Log.Warn("epoch of the database not checked, and is checked again", "err", err)
	case err == nil && w.failing:
		w.o.Back()
	}
	w.failing = err != nil
}

// check reads the state of the database once. It reacts if this is the first check, if the state has changed, or if Lost was called.
func (w *Watch) check(ctx context.Context) error {
	reason := w.lost.Load()
	read, err := w.o.Store.State(ctx)
	if err != nil {
		return err
	}
	starts, decided := w.epoch == "", read.Identity == read.Stored
	switch {
	case !starts && decided && read.Epoch != w.epoch: // another instance or an operator has begun an epoch on this server
		w.adopt(read)
	case !starts && decided && read.Identity == w.identity && reason == nil:
	default:
		if err := w.compare(ctx, read, reason); err != nil {
			return err
		}
	}
	if reason != nil {
		w.lost.CompareAndSwap(reason, nil)
	}
	return nil
}

// compare looks for the newest known commits in the database, and then either accepts its server or begins a new epoch.
func (w *Watch) compare(ctx context.Context, read State, reason *string) error {
	notes, err := w.notes(ctx, read.Identity != read.Stored)
	if err != nil {
		return err
	}
	missing, err := w.whatIsMissing(ctx, read, notes)
	if err != nil {
		return err
	}
	if reason != nil {
		missing = cmp.Or(missing, *reason)
	}
	if missing != "" {
		return w.renew(ctx, read, missing)
	}
	return w.accept(ctx, read, notes)
}

// notes loads the notes of all instances, and returns none if that fails. If they are needed, it fails with
// errNotesUnknown until notesPatience is over.
func (w *Watch) notes(ctx context.Context, needed bool) ([]Note, error) {
	if w.o.Notes == nil {
		return nil, nil
	}
	notes, err := w.o.Notes.Load(ctx)
	switch {
	case err == nil:
		w.unknownSince = time.Time{}
		return notes, nil
	case !needed:
		return nil, nil
	case w.unknownSince.IsZero():
		w.unknownSince = time.Now()
	case time.Since(w.unknownSince) > notesPatience:
		return nil, nil
	}
	return nil, fmt.Errorf("%w: %w", errNotesUnknown, err)
}

// whatIsMissing returns the reason why the database must have lost commits, or "".
func (w *Watch) whatIsMissing(ctx context.Context, read State, notes []Note) (reason string, err error) {
	if read.Identity != read.Stored {
		switch newest := newestOf(notes); {
		case w.epoch != "" && w.epoch != read.Epoch:
			return "its epoch is not the one that this instance has served", nil
		case newest != nil && newest.Epoch != read.Epoch:
			return "its epoch is not the one that was noted last", nil
		case newest == nil && read.Stored != "" && w.o.Notes != nil:
			return "another server answers, and no commits were noted outside SQL", nil
		}
	}
	marks := append(marksOf(notes, read.Epoch), w.inherited...)
	marks = append(marks, w.o.Store.Recent().List()...)
	n, err := w.o.Store.Missing(ctx, marks)
	if err != nil || n == 0 {
		return "", err
	}
	return fmt.Sprintf("%d of the %d newest commits that are known are not there", n, len(marks)), nil
}

func newestOf(notes []Note) *Note {
	var newest *Note
	for i := range notes {
		if newest == nil || notes[i].At.After(newest.At) {
			newest = &notes[i]
		}
	}
	return newest
}

func marksOf(notes []Note, epoch string) (marks []Mark) {
	for _, n := range notes {
		if n.Epoch == epoch {
			marks = append(marks, n.Marks...)
		}
	}
	return marks
}

// accept goes on in the epoch of the database, in which nothing is missing.
func (w *Watch) accept(ctx context.Context, read State, notes []Note) error {
	now, err := w.o.Store.Accept(ctx, read)
	if err != nil {
		return err
	}
	if now.Identity != read.Identity || now.Stored != read.Identity || now.Epoch != read.Epoch {
		return errors.New("the database changed during the comparison")
	}
	starts := w.epoch == ""
	if starts {
		w.inherited = inherit(notes, read.Epoch)
	}
	w.epoch, w.identity = now.Epoch, now.Identity
	if !starts {
		w.o.Log.Warn("another database server answers; no commit is missing", "identity", now.Identity)
		w.o.Store.ForgetCached()
		w.o.Changed(now.Epoch, false)
	}
	w.o.Store.Serve(now.Identity)
	return nil
}

// inherit returns the newest marks of the notes, for the case that the notes are lost before this instance commits
// anything.
func inherit(notes []Note, epoch string) (marks []Mark) {
	slices.SortFunc(notes, func(a, b Note) int { return a.At.Compare(b.At) })
	marks = marksOf(notes, epoch)
	return marks[max(0, len(marks)-keptMarks):]
}

// renew begins a new epoch, or adopts the one that another instance has begun meanwhile.
func (w *Watch) renew(ctx context.Context, read State, reason string) error {
	now, renewed, err := w.o.Store.Renew(ctx, read)
	switch {
	case err != nil:
		return err
	case renewed == nil && now.Epoch == read.Epoch:
		return errors.New("the database changed during the comparison")
	case renewed != nil:
		w.o.Log.Error("the database has lost commits: a new epoch begins", "reason", reason, "epoch", now.Epoch,
			"seeds_forgotten", renewed.Seeds, "packets_to_end_early", renewed.Packets)
	}
	w.adopt(now)
	return nil
}

// adopt makes this instance serve another epoch.
func (w *Watch) adopt(now State) {
	starts := w.epoch == ""
	w.epoch, w.identity, w.inherited = now.Epoch, now.Identity, nil
	w.o.Store.Recent().Forget()
	w.o.Store.ForgetCached()
	w.lost.Store(nil) // what was found missing until now belongs to the previous epoch; what is found while Changed runs does not
	if !starts {
		w.o.Log.Warn("the epoch of the database has changed: all sockets are closed", "epoch", now.Epoch)
	}
	w.o.Changed(now.Epoch, true)
	w.o.Store.Serve(now.Identity)
}

// save saves the note of this instance. A failure is only logged: the note is saved again after the next check.
func (w *Watch) save(ctx context.Context) {
	if w.o.Notes == nil || w.epoch == "" {
		return
	}
	marks := append(slices.Clone(w.inherited), w.o.Store.Recent().List()...)
	note := Note{At: time.Now(), Epoch: w.epoch, Marks: marks[max(0, len(marks)-keptMarks):]}
	if err := w.o.Notes.Save(ctx, w.o.Instance, note); err != nil {
		w.o.Log.Debug("newest commits not noted outside SQL", "err", err)
	}
}
