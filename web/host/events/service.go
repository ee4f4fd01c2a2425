package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
	"hongbao/web/host/server"
	"hongbao/web/wire"
)

// Store is what the package needs of the SQL database.
type Store interface {
	eventlog.Store
	eventlog.Consumers
	eventlog.Absences
}

// Options configure a Service. All fields but Webhook, Absent and Online are required.
type Options struct {
	Store    Store
	Kinds    eventlog.Kinds // kinds of events that readers get
	Instance string         // name of this instance, which no other one has
	Keep     time.Duration  // how long events are kept
	Most     int64          // about how many rows are kept at most
	Webhook  *Webhook       // nil: none
	Log      *slog.Logger
	Now      func() time.Time

	// Absent finds the users without a socket for whom an entry is news: chat.Service.Absent. nil: no event of the kind
	// user.offline_message is written.
	Absent func(ctx context.Context, e chat.Entry, found func(users []string)) (chat.Reason, error)
	// Online reports which users have a socket: chat.Service.MembersOnline. Absent needs it.
	Online func(ctx context.Context, users []string) ([]bool, error)
}

// Service reads the stream for the host. It is safe for concurrent use.
type Service struct {
	o        Options
	stopping func() <-chan struct{} // returns the channel that is closed when the server API stops
	lags     atomic.Pointer[map[string]time.Duration]
	waiters  waiters
}

// New returns a service.
func New(o Options) *Service {
	return &Service{o: o, stopping: func() <-chan struct{} { return nil }}
}

const (
	usualLimit = 100
	maxLimit   = 1000
	maxWait    = 30 // seconds that a request may wait for events
	// pollEvery is the interval of the query that all waiting requests share.
	pollEvery = 300 * time.Millisecond
	// WebhookConsumer is the name of the consumer that holds the position of the webhook.
	WebhookConsumer = "webhook"
)

// Mount adds the routes of the package to the server API.
func (s *Service) Mount(api *server.Server) error {
	s.stopping = api.Stopping
	return api.Mount(
		server.Handle("get_events", s.getEvents).Within((maxWait+15)*time.Second),
		server.Handle("get_consumer", s.getConsumer),
		server.Handle("list_consumers", s.listConsumers),
		server.Handle("put_consumer", s.putConsumer),
		server.Handle("delete_consumer", s.deleteConsumer),
		server.Handle("get_parked_events", s.getParked),
		server.Handle("replay_parked_event", s.replayParked),
	)
}

func (s *Service) getEvents(ctx context.Context, _ server.Caller, r *hostapi.GetEventsRequest) (hostapi.EventsReply, error) {
	q := eventlog.Query{Kinds: s.o.Kinds, Limit: usualLimit}
	if r.Kinds != "" {
		wanted, err := eventlog.ParseKinds(strings.Split(r.Kinds, ","))
		if err != nil {
			return hostapi.EventsReply{}, chat.BadField("kinds", err.Error())
		}
		maps.DeleteFunc(wanted, func(kind string, _ bool) bool { return !s.o.Kinds[kind] }) // the stream may have more kinds: see eventlog.Kinds.Written
		q.Kinds = wanted
	}
	switch {
	case r.Limit > maxLimit:
		return hostapi.EventsReply{}, chat.BadField("limit", fmt.Sprintf("must be at most %d", maxLimit))
	case r.WaitS > maxWait:
		return hostapi.EventsReply{}, chat.BadField("wait_s", fmt.Sprintf("must be at most %d", maxWait))
	case r.Limit > 0:
		q.Limit = r.Limit
	}
	var err error
	if q.After, err = s.begin(ctx, r); err != nil {
		return hostapi.EventsReply{}, err
	}
	return s.await(ctx, q, time.Duration(r.WaitS)*time.Second)
}

// begin returns the cursor from which a request reads.
func (s *Service) begin(ctx context.Context, r *hostapi.GetEventsRequest) (eventlog.Cursor, error) {
	if r.After != "" || r.Consumer == "" {
		return s.cursor(ctx, r.After)
	}
	c, err := s.o.Store.Consumer(ctx, r.Consumer)
	if err != nil {
		return eventlog.Cursor{}, err
	}
	return s.stored(ctx, c)
}

// cursor returns the cursor for a text that a host has sent: "oldest" or "", "newest", or the text of a cursor.
func (s *Service) cursor(ctx context.Context, text string) (eventlog.Cursor, error) {
	switch text {
	case "", "oldest":
		return s.o.Store.OldestEvent(ctx)
	case "newest":
		return s.o.Store.NewestEvent(ctx)
	}
	c, err := eventlog.ParseCursor(text)
	if err != nil {
		err = chat.BadField("after", err.Error())
	}
	return c, err
}

// stored returns the cursor of a consumer, with the present epoch. A consumer without a position gets the cursor of the oldest
// event. The stored cursor is in the same database as the events. So after a restore it still fits the events, although it has
// the epoch from before the restore.
func (s *Service) stored(ctx context.Context, consumer eventlog.Consumer) (eventlog.Cursor, error) {
	oldest, err := s.o.Store.OldestEvent(ctx)
	if err != nil || consumer.After == "" {
		return oldest, err
	}
	c, err := eventlog.ParseCursor(consumer.After)
	if err != nil {
		return eventlog.Cursor{}, fmt.Errorf("position of consumer %s: %w", consumer.Name, err)
	}
	c.Epoch = oldest.Epoch
	return c, nil
}

// await reads events. If there are none, it waits for some, at most for the given time. It returns early when the server stops.
func (s *Service) await(ctx context.Context, q eventlog.Query, wait time.Duration) (hostapi.EventsReply, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	for promised := false; ; promised = true {
		before := q.After
		b, err := s.read(ctx, q)
		if err != nil {
			return hostapi.EventsReply{}, err
		}
		reply := hostapi.EventsReply{Events: convert.List(b.Events, eventOf), Next: b.Next.String(), More: b.More}
		if len(b.Events) > 0 || wait == 0 {
			return reply, nil
		}
		q.After = b.Next
		if b.More {
			continue
		}
		if promised && q.After.String() == before.String() { // the newest row was deleted, or its fact is not visible yet: ahead would return at once
			sleep(ctx, pollEvery)
		}
		if !s.ahead(ctx, q.After, over.C) {
			return reply, ctx.Err()
		}
	}
}

// read reads a batch, and logs the events that the store had to leave out.
func (s *Service) read(ctx context.Context, q eventlog.Query) (eventlog.Batch, error) {
	b, err := s.o.Store.Events(ctx, q)
	for _, fault := range b.Faults {
		s.o.Log.Error("event left out", "err", fault)
	}
	if b.Waits != nil {
		s.o.Log.Info("event not visible yet", "err", b.Waits)
	}
	if eventlog.Refused(err) {
		err = &chat.FieldError{Err: chat.ErrConflict, Field: "after", Reason: err.Error()}
	}
	return b, err
}

// consumerForm is the form of a consumer's name.
var consumerForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

func (s *Service) getConsumer(ctx context.Context, _ server.Caller, r *hostapi.GetConsumerRequest) (hostapi.ConsumerReply, error) {
	if !consumerForm.MatchString(r.Consumer) {
		return hostapi.ConsumerReply{}, errConsumer
	}
	c, err := s.o.Store.Consumer(ctx, r.Consumer)
	return hostapi.ConsumerReply{Consumer: consumerOf(c)}, err
}

func (s *Service) listConsumers(ctx context.Context, _ server.Caller, _ *struct{}) (hostapi.ConsumersReply, error) {
	found, err := s.o.Store.ConsumerList(ctx, mostConsumers)
	lags := s.Lags()
	return hostapi.ConsumersReply{Consumers: convert.List(found, func(c eventlog.Consumer) hostapi.LateConsumer {
		late := hostapi.LateConsumer{Consumer: consumerOf(c)}
		if lag, measured := lags[c.Name]; measured {
			late.LagMS = new(lag.Milliseconds())
		}
		return late
	})}, err
}

var errConsumer = chat.BadField("consumer", "must have 1 to 64 of a-z, 0-9, '.', '_' and '-'")

func (s *Service) putConsumer(ctx context.Context, c server.Caller, r *hostapi.PutConsumerRequest) (hostapi.ConsumerReply, error) {
	if !consumerForm.MatchString(r.Consumer) {
		return hostapi.ConsumerReply{}, errConsumer
	}
	if r.Consumer == WebhookConsumer && !c.Key.May(hostapi.Admin) { // a new position may skip events for the whole host
		return hostapi.ConsumerReply{}, wire.NewError(wire.CodeForbidden, "scope", string(hostapi.Admin))
	}
	after, err := s.cursor(ctx, r.After)
	if err == nil {
		_, err = s.read(ctx, eventlog.Query{After: after, Limit: 1}) // checks the cursor
	}
	if err != nil {
		return hostapi.ConsumerReply{}, err
	}
	stored := eventlog.Consumer{Name: r.Consumer, After: after.String(), UpdatedAt: s.o.Now()}
	return hostapi.ConsumerReply{Consumer: consumerOf(stored)}, s.o.Store.PutConsumer(ctx, stored)
}

func (s *Service) deleteConsumer(ctx context.Context, _ server.Caller, r *hostapi.GetConsumerRequest) (hostapi.DeleteConsumerReply, error) {
	switch {
	case !consumerForm.MatchString(r.Consumer):
		return hostapi.DeleteConsumerReply{}, errConsumer
	case r.Consumer == WebhookConsumer:
		return hostapi.DeleteConsumerReply{}, wire.NewError(wire.CodeForbidden, "consumer", WebhookConsumer)
	}
	return hostapi.DeleteConsumerReply{}, s.o.Store.DeleteConsumer(ctx, r.Consumer)
}

func consumerOf(c eventlog.Consumer) hostapi.Consumer {
	return hostapi.Consumer{Name: c.Name, After: c.After, UpdatedAt: convert.Millis(c.UpdatedAt)}
}

func (s *Service) getParked(ctx context.Context, _ server.Caller, r *hostapi.GetParkedRequest) (reply hostapi.ParkedReply, err error) {
	limit := usualLimit
	if r.Limit > 0 {
		limit = min(r.Limit, usualLimit)
	}
	parked, err := s.o.Store.ParkedHolds(ctx, WebhookConsumer, r.After, limit)
	if err != nil {
		return reply, err
	}
	if _, reply.Held, err = s.o.Store.HeldKeys(ctx, WebhookConsumer); err != nil {
		return reply, err
	}
	at := make([]eventlog.Position, len(parked))
	for i, h := range parked {
		at[i] = h.At
	}
	found, err := s.o.Store.EventsAt(ctx, at)
	reply.Parked = []hostapi.Parked{} // [] on the wire, not null
	for _, h := range parked {
		p := hostapi.Parked{No: h.No, Key: h.Key, FirstAt: convert.Millis(h.FirstAt), Tries: h.Tries, Why: h.Why}
		if e, ok := found[h.At]; ok {
			event := eventOf(e)
			p.Event = &event
		}
		reply.Parked = append(reply.Parked, p)
	}
	return reply, err
}

func (s *Service) replayParked(ctx context.Context, _ server.Caller, r *hostapi.ReplayParkedRequest) (hostapi.ReplayParkedReply, error) {
	parked, err := s.o.Store.ParkedHolds(ctx, WebhookConsumer, r.No-1, 1)
	if err != nil {
		return hostapi.ReplayParkedReply{}, err
	}
	if len(parked) == 0 || parked[0].No != r.No {
		return hostapi.ReplayParkedReply{}, &chat.FieldError{Err: chat.ErrNotFound, Field: "no", Reason: "is no parked event"}
	}
	h := parked[0]
	h.Parked, h.Tries, h.FirstAt, h.NextAt = false, 0, s.o.Now(), s.o.Now()
	return hostapi.ReplayParkedReply{}, s.o.Store.PutHold(ctx, WebhookConsumer, h)
}

// eventOf returns the event as hosts get it.
func eventOf(e eventlog.Event) hostapi.Event {
	out := hostapi.Event{
		ID: e.ID, Type: e.Kind, Timestamp: e.At.UTC().Format("2006-01-02T15:04:05.000Z"),
		Data: hostapi.EventData{Room: e.Room, User: e.User, Details: e.Data},
	}
	switch {
	case e.Entry != nil:
		entry := convert.Entry(*e.Entry)
		out.Data.Entry = &entry
	case e.Claim != nil:
		out.Data.Claim = &hostapi.EventClaim{
			Packet: e.Claim.Packet, Share: e.Claim.Share, Amount: int64(e.Claim.Amount), Transfer: e.Claim.Transfer, At: convert.Millis(e.Claim.At),
		}
	case e.Transfer != nil:
		transfer := convert.Transfer(*e.Transfer)
		out.Data.Transfer = &transfer
	}
	return out
}

// tendEvery is how often old events are deleted, and the lags of consumers measured.
const tendEvery = time.Minute

// Run deletes old events, measures the lags of consumers, delivers to the webhook, and writes events about users without a
// socket, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	if s.o.Webhook != nil {
		running.Go(func() { s.whileLeased(ctx, WebhookConsumer, delivery{s}.round) })
	}
	if s.o.Absent != nil && s.o.Kinds[eventlog.UserOffline] {
		running.Go(func() { s.lookForAbsent(ctx, &look{consumer: eventlog.AbsentConsumer}) })
		running.Go(func() { s.lookForAbsent(ctx, &look{consumer: againConsumer, again: true}) })
	}
	ticker := time.NewTicker(tendEvery)
	defer ticker.Stop()
	for {
		s.prune(ctx)
		s.measureLags(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// prune deletes old events in steps.
func (s *Service) prune(ctx context.Context) {
	for ctx.Err() == nil {
		now := s.o.Now()
		n, err := s.o.Store.PruneEvents(ctx, now, now.Add(-s.o.Keep), s.o.Most)
		if err != nil && !errors.Is(err, context.Canceled) {
			s.o.Log.Warn("old events not deleted yet", "err", err)
		}
		if err != nil || n == 0 {
			return
		}
	}
}

// body returns the JSON of an event.
func body(e eventlog.Event) ([]byte, error) { return wire.Marshal(eventOf(e)) }
