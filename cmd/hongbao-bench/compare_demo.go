package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hongbao/cmd/hongbao-bench/schemes"
)

// demonstration is article 1's: 10.00 in 5 pieces that 9 people grab at once, and another such packet with a time limit
// that 3 people grab.
type demonstration struct {
	scheme *schemes.Instance
	name   string

	got, gone, other int // of the nine
	amounts          []string
	three            int64 // what the three got
	refunded         int64
}

const demoTotal = 1000

// demonstrate by the article's scheme, and by ours, which must come out as the article says.
func (c *compare) demonstrate(ctx context.Context, p *program, s *site) (err error) {
	all, err := startServers(ctx, s, c.redisURL, c.databaseURL, c.connections)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.release()) }()
	e, err := all.fresh(ctx)
	if err != nil {
		return err
	}
	var shown []*demonstration
	deadline := time.Now().Add(c.demoTTL)
	for _, who := range []schemes.Named{schemes.All()[0], oursService(s.log)} {
		process, err := who.Start(ctx, e)
		if err != nil {
			return err
		}
		defer process.Stop() //nolint:errcheck // what counts has been shown
		d := &demonstration{scheme: process, name: who.Name}
		if err := d.begin(ctx, c.demoTTL); err != nil {
			return fmt.Errorf("%s: %w", who.Name, err)
		}
		shown = append(shown, d)
		p.print("%s: 10.00 in 5 pieces, 9 people grab at once: %d got %s; %d are told it is gone, %d something else",
			d.name, d.got, strings.Join(d.amounts, " "), d.gone, d.other)
	}
	c.say("waiting until the second packet's time is up, in %v", time.Until(deadline).Round(time.Second))
	for _, d := range shown {
		if err := d.end(ctx, deadline.Add(5*time.Second)); err != nil {
			return err
		}
		p.print("%s: 10.00 in 5 pieces with a limit of %v, 3 people grab %s; after it %s are back with the sender",
			d.name, c.demoTTL, yuan(d.three), yuan(d.refunded))
	}
	if ours := shown[1]; ours.got != 5 || ours.gone != 4 || ours.three+ours.refunded != demoTotal {
		return errors.New("ours does not come out as the article says")
	}
	return nil
}

// begin opens both packets and has the people grab.
func (d *demonstration) begin(ctx context.Context, ttl time.Duration) error {
	packet := func(id string, ttl time.Duration) schemes.Packet {
		return schemes.Packet{ID: "demo-" + id, Sender: "sender", TTL: ttl, Shares: []int64{200, 200, 200, 200, 200}}
	}
	if err := errors.Join(d.scheme.Open(ctx, packet("nine", time.Hour)), d.scheme.Open(ctx, packet("three", ttl))); err != nil {
		return err
	}
	var all sync.WaitGroup
	var mu sync.Mutex // guards the counts
	for user := range 9 {
		all.Go(func() {
			a, err := d.scheme.Grab(ctx, "demo-nine", userName(user))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && a.Verdict == schemes.Got:
				d.got++
				d.amounts = append(d.amounts, yuan(a.Amount))
			case err == nil && a.Verdict == schemes.Gone:
				d.gone++
			default:
				d.other++
			}
		})
	}
	all.Wait()
	for user := range 3 {
		a, err := d.scheme.Grab(ctx, "demo-three", userName(user))
		if err != nil {
			return err
		}
		d.three += a.Amount
	}
	return nil
}

// end waits until the rest is back, or nobody believes in it any more.
func (d *demonstration) end(ctx context.Context, late time.Time) error {
	for {
		b, err := d.scheme.Stored(ctx, "demo-three")
		if err != nil {
			return err
		}
		if d.refunded = b.Refunded; b.Left == 0 || time.Now().After(late) {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// yuan is an amount as people write it.
func yuan(amount int64) string { return fmt.Sprintf("%d.%02d", amount/100, amount%100) }
