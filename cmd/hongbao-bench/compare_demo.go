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

// demonstration is the one in article 1. Nine users grab a packet of 10.00 in 5 pieces at the same time. Then three
// users grab another such packet, which expires.
type demonstration struct {
	scheme *schemes.Instance
	name   string

	got, gone, other int // answers to the nine users, by kind
	amounts          []string
	three            int64 // sum of what the three users of the second packet got
	refunded         int64
}

const demoTotal = 1000

// demonstrate runs the demonstration with the article's scheme and with the service. The service must give the result
// that the article states.
func (c *compare) demonstrate(ctx context.Context, p *program, s *testbed) (err error) {
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
	for _, scheme := range []schemes.Named{schemes.All()[0], oursService(s.log)} {
		process, err := scheme.Start(ctx, e)
		if err != nil {
			return err
		}
		defer process.Stop() //nolint:errcheck // the results have been printed
		d := &demonstration{scheme: process, name: scheme.Name}
		if err := d.begin(ctx, c.demoTTL); err != nil {
			return fmt.Errorf("%s: %w", scheme.Name, err)
		}
		shown = append(shown, d)
		p.print("%s: 10.00 in 5 pieces, 9 users grab at once: %d got %s; %d answers say empty, %d say something else",
			d.name, d.got, strings.Join(d.amounts, " "), d.gone, d.other)
	}
	c.say("waiting for the second packet's deadline, in %v", time.Until(deadline).Round(time.Second))
	for _, d := range shown {
		if err := d.end(ctx, deadline.Add(5*time.Second)); err != nil {
			return err
		}
		p.print("%s: 10.00 in 5 pieces with a deadline of %v, 3 users grab %s; after it %s are refunded to the sender",
			d.name, c.demoTTL, yuan(d.three), yuan(d.refunded))
	}
	if ours := shown[1]; ours.got != 5 || ours.gone != 4 || ours.three+ours.refunded != demoTotal {
		return errors.New("ours does not give the result that the article states")
	}
	return nil
}

// begin opens both packets and makes the grabs.
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

// end waits until the rest of the second packet is refunded, or until the time late.
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

// yuan formats an amount with two decimal places.
func yuan(amount int64) string { return fmt.Sprintf("%d.%02d", amount/100, amount%100) }
