package storetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/hub"
)

// busPatience is how long the suite waits for an expected event.
const busPatience = 4 * time.Minute

// BusEnd runs one end of a bus and records all that it receives. Its exported fields, except Bus, may be read only with mu
// held. Until holds mu while it calls its function met.
type BusEnd struct {
	hub.Bus
	t *testing.T

	mu        sync.Mutex    // guards the fields below
	changed   chan struct{} // closed and replaced at every change
	Received  []BusDelivery
	Suspects  int
	Forgeries int           // calls of Forged
	Compares  int           // calls of Compare; Down(false) counts as one of Suspect, not of Compare
	IsDown    bool          // true at first
	hold      chan struct{} // if not nil, Receive waits until it is closed
}

// BusDelivery is a received payload.
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

// Say publishes a text with rank hub.Kept.
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

// Forged counts calls.
func (b *BusEnd) Forged(string) { b.change(func() { b.Forgeries++ }) }

// Suspect counts calls.
func (b *BusEnd) Suspect() { b.change(func() { b.Suspects++ }) }

// Compare counts calls.
func (b *BusEnd) Compare() { b.change(func() { b.Compares++ }) }

// Down records the state. Down(false) counts as a call of Suspect, too.
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

// Hold makes Receive block until release is called.
func (b *BusEnd) Hold() (release func()) {
	hold := make(chan struct{})
	b.change(func() { b.hold = hold })
	return func() {
		b.change(func() { b.hold = nil })
		close(hold)
	}
}

// Until waits until met returns true. It calls met at once and after each change of this end. It fails the test after
// busPatience. what names the condition in that failure.
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

// Of returns the payloads received for a topic. The caller must hold mu, as Until does while it calls its function met.
func (b *BusEnd) Of(topic string) (payloads []string) {
	for _, d := range b.Received {
		if d.Topic == topic {
			payloads = append(payloads, d.Payload)
		}
	}
	return payloads
}

// Forget deletes the recorded payloads and sets the number of Suspects to 0.
func (b *BusEnd) Forget() {
	b.change(func() { b.Received, b.Suspects = nil, 0 })
}

// Listen subscribes to the topics and waits until messages of the other end arrive. Then it deletes the recorded payloads.
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
