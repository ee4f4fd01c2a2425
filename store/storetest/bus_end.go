package storetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/hub"
)

// busPatience is how long the suite waits for what must come in the end.
const busPatience = 20 * time.Second

// BusEnd is one end of a bus, run, with all that it has received. What it has exported may be read in Until.
type BusEnd struct {
	hub.Bus
	t *testing.T

	mu       sync.Mutex    // guards the following
	changed  chan struct{} // closed and renewed with every change
	Received []BusDelivery
	Suspects int
	Compares int           // Down(false) counts as one
	IsDown   bool          // as it is at first
	hold     chan struct{} // not nil: Receive waits until it is closed
}

// BusDelivery is what a bus has brought.
type BusDelivery struct{ Topic, Payload string }

// RunBus runs a bus until the end of the test, and returns when it is up.
func RunBus(t *testing.T, bus hub.Bus) *BusEnd {
	b := &BusEnd{Bus: bus, t: t, changed: make(chan struct{}), IsDown: true}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- bus.Run(ctx, b) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	b.Until("the bus to be up", func() bool { return !b.IsDown })
	return b
}

// Say publishes what must come.
func (b *BusEnd) Say(topic, text string) { b.Publish(topic, []byte(text), hub.Kept) }

// Receive records a delivery.
func (b *BusEnd) Receive(topic string, payload []byte) {
	b.mu.Lock()
	hold := b.hold
	b.mu.Unlock()
	if hold != nil {
		<-hold
	}
	b.change(func() { b.Received = append(b.Received, BusDelivery{topic, string(payload)}) })
}

// Suspect counts.
func (b *BusEnd) Suspect() { b.change(func() { b.Suspects++ }) }

// Compare counts.
func (b *BusEnd) Compare() { b.change(func() { b.Compares++ }) }

// Down is noted. Up again says what Suspect says, too.
func (b *BusEnd) Down(down bool) {
	b.change(func() {
		if b.IsDown = down; !down {
			b.Suspects++
		}
	})
}

func (b *BusEnd) change(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	close(b.changed)
	b.changed = make(chan struct{})
}

// Hold keeps the receiver from taking anything until it is released.
func (b *BusEnd) Hold() (release func()) {
	hold := make(chan struct{})
	b.change(func() { b.hold = hold })
	return func() {
		b.change(func() { b.hold = nil })
		close(hold)
	}
}

// Until waits for a condition on what has been seen so far.
func (b *BusEnd) Until(what string, met func() bool) {
	b.t.Helper()
	deadline := time.After(busPatience)
	for {
		b.mu.Lock()
		ok, changed := met(), b.changed
		b.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			b.t.Fatalf("not within %v: %s", busPatience, what)
		}
	}
}

// Of is what came on a topic; for Until.
func (b *BusEnd) Of(topic string) (payloads []string) {
	for _, d := range b.Received {
		if d.Topic == topic {
			payloads = append(payloads, d.Payload)
		}
	}
	return payloads
}

// Forget begins to count anew.
func (b *BusEnd) Forget() {
	b.change(func() { b.Received, b.Suspects = nil, 0 })
}

// Listen subscribes and waits until that has effect, seen by probes from the other end.
func (b *BusEnd) Listen(from *BusEnd, topics ...string) {
	b.t.Helper()
	b.Subscribe(topics...)
	for _, topic := range topics {
		probe := time.NewTicker(5 * time.Millisecond)
		stop := make(chan struct{})
		var probing sync.WaitGroup
		probing.Go(func() {
			for {
				from.Publish(topic, []byte("probe"), hub.Loose)
				select {
				case <-probe.C:
				case <-stop:
					return
				}
			}
		})
		b.Until("the subscription of "+topic, func() bool { return slices.Contains(b.Of(topic), "probe") })
		close(stop)
		probing.Wait()
		probe.Stop()
		from.Say(topic, "end of probes")
		b.Until("the last probe", func() bool { return slices.Contains(b.Of(topic), "end of probes") })
	}
	b.change(func() { b.Received = nil })
}
