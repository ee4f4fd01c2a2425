package events

import (
	"context"
	"errors"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

const (
	// againConsumer is the name of the consumer of the second look at the stream.
	againConsumer = "~offline.again"
	// againAfter is the age of the entries at the second look. It is more than chat.PresenceLease: for that long, the sockets
	// of a dead instance still count as open. A connection that broke without a close counts as open until its ping is missed.
	againAfter = chat.PresenceLease + 10*time.Second
	// tellEvery is the least time between two events about one user.
	tellEvery = time.Minute

	lookEntries  = 100    // entries of one round
	lookAtOnce   = 8      // entries that are judged concurrently
	lookAbsences = 10_000 // absences that one transaction stores; a single entry may have more
	dueLimit     = 5000   // users that one call of tellDue reads

	mostLookPause = 5 * time.Second // longest pause of a look after a failure of the database or of presence
)

// look is one of the two readers of the stream that look for users without a socket. One goroutine uses it.
type look struct {
	consumer string
	again    bool
}

// lookForAbsent reads entries from the stream while this instance has the lease of the look. It writes events of the kind
// UserOffline about the users without a socket for whom the entries are news.
//
// An entry gets into the stream in the transaction that commits the entry, and the position of the look moves in the
// transaction that writes the events. So the death of an instance loses no entry, and no event is written twice.
func (s *Service) lookForAbsent(ctx context.Context, l *look) {
	s.whileLeased(ctx, l.consumer, func(ctx context.Context, before time.Duration) time.Duration {
		began := time.Now()
		if !l.again {
			if err := s.tellDue(ctx); err != nil {
				return min(s.troubled(ctx, l.consumer, "tell due absences", before, err), mostLookPause)
			}
		}
		more, err := s.lookOnce(ctx, l)
		switch {
		case err != nil:
			return min(s.troubled(ctx, l.consumer, "look for absent users", before, err), mostLookPause)
		case more:
			return min(time.Since(began), firstPause/2) // so that large rooms keep one connection busy for half of the time
		}
		return max(idleEvery, min(time.Since(began), firstPause/2))
	})
}

// candidates are the kinds of entries that may be news.
var candidates = eventlog.Kinds{eventlog.MessageNew: true, eventlog.PacketSent: true}

// lookOnce judges the next entries, and stores the absences and the new position of the look. It reports whether there are more
// entries.
func (s *Service) lookOnce(ctx context.Context, l *look) (more bool, err error) {
	c, err := s.o.Store.Consumer(ctx, l.consumer)
	if err != nil {
		return false, err
	}
	q := eventlog.Query{Kinds: candidates, Limit: lookEntries}
	if l.again {
		q.Until = s.o.Now().Add(-againAfter)
	}
	told := eventlog.AbsenceLook{Before: c.After, Owner: s.o.Instance, Again: l.again, Due: s.o.Now().Add(tellEvery)}
	told.Consumer = eventlog.Consumer{Name: l.consumer, UpdatedAt: s.o.Now()}
	if c.After == "" { // at the first start: no events are written about older entries
		newest, err := s.o.Store.NewestEvent(ctx)
		if err != nil {
			return false, err
		}
		told.After = newest.String()
		return false, s.o.Store.TellAbsences(ctx, told)
	}
	if q.After, err = s.stored(ctx, c); err != nil {
		return false, err
	}
	b, err := s.o.Store.Events(ctx, q)
	if eventlog.Refused(err) {
		s.o.Log.Error("events were deleted before absent users were told of them", "consumer", l.consumer, "err", err)
		b.Next, err = s.o.Store.OldestEvent(ctx)
		b.More = true
	}
	if err != nil {
		return false, err
	}
	judged, err := s.judge(ctx, b.Events)
	if err != nil {
		return false, err
	}
	absences, n := merge(b.Events, judged)
	if n < len(b.Events) { // too many users for one transaction
		q.Limit = n
		if b, err = s.o.Store.Events(ctx, q); err != nil {
			return false, err
		}
	}
	if told.After, told.Absences = b.Next.String(), absences; told.After == c.After {
		return b.More, nil
	}
	return b.More, s.o.Store.TellAbsences(ctx, told)
}

// judgement says for which users without a socket an entry is news, and why.
type judgement struct {
	reason chat.Reason
	users  []string
}

// judge judges the entries, at most lookAtOnce of them concurrently.
func (s *Service) judge(ctx context.Context, entries []eventlog.Event) ([]judgement, error) {
	judged, errs := make([]judgement, len(entries)), make([]error, len(entries))
	var all sync.WaitGroup
	slots := make(chan struct{}, lookAtOnce)
	for i, e := range entries {
		if e.Entry == nil {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			judged[i], errs[i] = s.judgeOne(ctx, e)
		})
	}
	all.Wait()
	return judged, errors.Join(errs...)
}

func (s *Service) judgeOne(ctx context.Context, e eventlog.Event) (j judgement, err error) {
	j.reason, err = s.o.Absent(ctx, *e.Entry, func(users []string) { j.users = append(j.users, users...) })
	if err != nil && ctx.Err() == nil && !errors.Is(err, chat.ErrUnavailable) { // the entry would fail again, and hold up all later ones
		s.o.Log.Error("entry is told to nobody", "event", e.ID, "err", err)
		return judgement{}, nil
	}
	return j, err
}

// merge returns one absence for each user, and the number of entries that these absences cover. The number is lower than
// len(entries) if there are too many users for one transaction.
func merge(entries []eventlog.Event, judged []judgement) (absences []eventlog.Absence, n int) {
	index := map[string]int{}
	for ; n < len(entries); n++ {
		if n > 0 && len(absences)+len(judged[n].users) > lookAbsences {
			break
		}
		for _, user := range judged[n].users {
			i, known := index[user]
			if !known {
				i = len(absences)
				index[user], absences = i, append(absences, eventlog.Absence{User: user})
			}
			a := &absences[i]
			a.Room, a.Seq, a.Row, a.Reason = entries[n].Entry.Room, entries[n].Entry.Seq, entries[n].Position.ID, string(judged[n].reason)
			a.Count++
		}
	}
	return absences, n
}

// tellDue writes events about users about whom the last event was written at least tellEvery ago, and for whom there has been more
// news since. It leaves out users that have a socket again.
func (s *Service) tellDue(ctx context.Context) error {
	now := s.o.Now()
	due, err := s.o.Store.DueAbsences(ctx, now, dueLimit)
	if err != nil || len(due) == 0 {
		return err
	}
	users := make([]string, len(due))
	for i, a := range due {
		users[i] = a.User
	}
	online, err := s.o.Online(ctx, users)
	if err != nil {
		return err
	}
	for i := range due {
		due[i].Back = online[i]
	}
	return s.o.Store.TellDue(ctx, due, now.Add(tellEvery))
}
