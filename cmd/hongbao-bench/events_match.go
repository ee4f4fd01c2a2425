package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/store/eventlog"
	"hongbao/store/pgstore"
)

// playEvents measures what the event stream costs a grab: our service with all kinds of events, and without any.
func playEvents(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	silent := oursService(s.log)
	silent.Name = "no events"
	return e.playSchemes(ctx, s, oursWithEvents(s.log), silent, []schemesMatch{
		{"hot packet, events, 200 callers", 200, 1, min(e.size.hot, 30_000), 0.9},
		{fmt.Sprintf("%d packets, events, 200 callers", min(e.size.packets, 100)), 200, min(e.size.packets, 100), 300, 0.9},
	})
}

// oursWithEvents is our service with all kinds of events. Two goroutines read the stream. They stand for the two readers of a
// server that look for users without a socket (for the kind user.offline_message). Here they only read, and add no events.
func oursWithEvents(log *slog.Logger) schemes.Named {
	known := &packetIDs{}
	return schemes.Named{
		Name: "all events",
		Make: func(e schemes.Engines) (schemes.Scheme, error) {
			s, err := openService(context.Background(), e, known, log)
			if err != nil {
				return nil, err
			}
			kinds := eventlog.Kinds{}
			for _, kind := range eventlog.AllKinds() {
				kinds[kind] = true
			}
			s.pg.UseEvents(kinds)
			return &servedEvents{serviceScheme: s}, nil
		},
	}
}

// servedEvents is a service whose stream is read.
type servedEvents struct{ *serviceScheme }

// Run implements schemes.Scheme.
func (s *servedEvents) Run(ctx context.Context) error {
	var reading sync.WaitGroup
	defer reading.Wait()
	for range 2 { // a server reads each event at once, and again 40 s later; here both goroutines read at once
		reading.Go(func() { readCandidates(ctx, s.pg) })
	}
	return s.serviceScheme.Run(ctx)
}

// readCandidates reads the entries of the stream that a server reads to look for users without a socket.
func readCandidates(ctx context.Context, pg *pgstore.Store) {
	after, err := pg.NewestEvent(ctx)
	for err == nil {
		var b eventlog.Batch
		b, err = pg.Events(ctx, eventlog.Query{After: after, Kinds: eventlog.Kinds{eventlog.MessageNew: true, eventlog.PacketSent: true}, Limit: 100})
		if after = b.Next; b.More {
			continue
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}
