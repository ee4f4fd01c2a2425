package storetest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"hongbao/hub"
)

// busPatience is how long the suite waits for what must come in the end.
const busPatience = 10 * time.Second

// TestBus asks of a bus what hub.Bus promises. open gives two ends of one bus, as two instances have them; the
// suite runs them.
func TestBus(t *testing.T, open func(t *testing.T) (a, b hub.Bus)) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, a, b *busBench)
	}{
		{"order per topic", busOrder},
		{"no echo", busNoEcho},
		{"payloads come as they were sent", busPayloads},
		{"subscribing twice delivers once", busTwice},
		{"unsubscribe takes effect", busUnsubscribe},
		{"both ways", busBothWays},
		{"a loss is told", busLoss},
	} {
		t.Run(test.name, func(t *testing.T) {
			one, other := open(t)
			test.run(t, runBus(t, one), runBus(t, other))
		})
	}
}

// busBench is one end of a bus, run, with all that it has received.
type busBench struct {
	hub.Bus
	t *testing.T

	mu       sync.Mutex
	changed  chan struct{} // closed and renewed with every change
	received []busDelivery
	suspects int
	down     bool
	hold     chan struct{} // not nil: Receive waits until it is closed
}

type busDelivery struct{ topic, payload string }

func runBus(t *testing.T, bus hub.Bus) *busBench {
	b := &busBench{Bus: bus, t: t, changed: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- bus.Run(ctx, b) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return b
}

// Receive records a delivery.
func (b *busBench) Receive(topic string, payload []byte) {
	b.mu.Lock()
	hold := b.hold
	b.mu.Unlock()
	if hold != nil {
		<-hold
	}
	b.change(func() { b.received = append(b.received, busDelivery{topic, string(payload)}) })
}

// Suspect counts.
func (b *busBench) Suspect() { b.change(func() { b.suspects++ }) }

// Down is noted.
func (b *busBench) Down(down bool) { b.change(func() { b.down = down }) }

func (b *busBench) change(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	close(b.changed)
	b.changed = make(chan struct{})
}

// until waits for a condition on what the bench has seen; the condition runs under its lock.
func (b *busBench) until(what string, met func() bool) {
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

// of counts what came on a topic.
func (b *busBench) of(topic string) (payloads []string) {
	for _, d := range b.received {
		if d.topic == topic {
			payloads = append(payloads, d.payload)
		}
	}
	return payloads
}

// listen subscribes and waits until that has effect, seen by probes from the other end.
func (b *busBench) listen(from *busBench, topics ...string) {
	b.t.Helper()
	b.Subscribe(topics...)
	for _, topic := range topics {
		probe := time.NewTicker(5 * time.Millisecond)
		stop := make(chan struct{})
		var probing sync.WaitGroup
		probing.Go(func() {
			for {
				from.Publish(topic, []byte("probe"))
				select {
				case <-probe.C:
				case <-stop:
					return
				}
			}
		})
		b.until("the subscription of "+topic, func() bool { return len(b.of(topic)) > 0 })
		close(stop)
		probing.Wait()
		probe.Stop()
		from.Publish(topic, []byte("end of probes"))
		b.until("the last probe", func() bool {
			payloads := b.of(topic)
			return payloads[len(payloads)-1] == "end of probes"
		})
	}
	b.change(func() { b.received = nil })
}

func busOrder(t *testing.T, a, b *busBench) {
	topics := []string{"room:1", "room:2", "room:3"}
	const each = 500
	b.listen(a, topics...)
	var publishers sync.WaitGroup
	for _, topic := range topics {
		publishers.Go(func() {
			for i := range each {
				a.Publish(topic, []byte(strconv.Itoa(i)))
			}
		})
	}
	publishers.Wait()
	b.until("all payloads", func() bool { return len(b.received) >= each*len(topics) })
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, topic := range topics {
		for i, payload := range b.of(topic) {
			if payload != strconv.Itoa(i) {
				t.Fatalf("%s: payload %d is %s", topic, i, payload)
			}
		}
	}
}

func busNoEcho(t *testing.T, a, b *busBench) {
	a.listen(b, "room:1")
	b.listen(a, "room:1")
	a.Publish("room:1", []byte("from a"))
	b.until("a's payload", func() bool { return len(b.received) == 1 })
	b.Publish("room:1", []byte("from b"))
	a.until("b's payload", func() bool { return len(a.received) > 0 })
	a.mu.Lock()
	defer a.mu.Unlock()
	if got := a.of("room:1"); len(got) != 1 || got[0] != "from b" {
		t.Errorf("the publisher received %q, want only the other's", got)
	}
}

func busPayloads(t *testing.T, a, b *busBench) {
	b.listen(a, "user:ü 1")
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	big := make([]byte, 256<<10)
	for _, payload := range [][]byte{{}, all, big} {
		a.Publish("user:ü 1", payload)
	}
	b.until("three payloads", func() bool { return len(b.received) == 3 })
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, want := range []string{"", string(all), string(big)} {
		if got := b.received[i].payload; got != want {
			t.Errorf("payload %d: %d bytes came, differing from the %d sent", i, len(got), len(want))
		}
	}
}

func busTwice(t *testing.T, a, b *busBench) {
	b.Subscribe("room:1", "room:1")
	b.listen(a, "room:1")
	a.Publish("room:1", []byte("once"))
	a.Publish("room:1", []byte("end"))
	b.until("the end", func() bool { return len(b.received) > 0 && b.received[len(b.received)-1].payload == "end" })
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.received) != 2 {
		t.Errorf("received %q", b.received)
	}
}

func busUnsubscribe(t *testing.T, a, b *busBench) {
	b.listen(a, "room:1", "room:2")
	b.Unsubscribe("room:1", "never subscribed")
	// Each round asks both topics: when only the second answers, the unsubscription has had effect.
	for round := 0; ; round++ {
		mark := fmt.Sprint("round ", round)
		a.Publish("room:1", []byte(mark))
		a.Publish("room:2", []byte(mark))
		b.until(mark, func() bool {
			payloads := b.of("room:2")
			return len(payloads) > 0 && payloads[len(payloads)-1] == mark
		})
		b.mu.Lock()
		came := len(b.of("room:1"))
		b.mu.Unlock()
		if came <= round {
			break
		}
		if round > 1000 {
			t.Fatal("payloads of an unsubscribed topic keep coming")
		}
	}
	b.listen(a, "room:1")
	a.Publish("room:1", []byte("again"))
	b.until("the topic subscribed again", func() bool { return len(b.of("room:1")) == 1 })
}

func busBothWays(_ *testing.T, a, b *busBench) {
	a.listen(b, "room:a")
	b.listen(a, "room:b")
	const each = 300
	var publishers sync.WaitGroup
	for range each {
		publishers.Go(func() { a.Publish("room:b", []byte("to b")) })
		publishers.Go(func() { b.Publish("room:a", []byte("to a")) })
	}
	publishers.Wait()
	a.until("all for a", func() bool { return len(a.of("room:a")) == each })
	b.until("all for b", func() bool { return len(b.of("room:b")) == each })
}

// busLoss holds the receiver up and publishes until something must be lost: the publisher goes on, and the receiver
// hears of it. A bus that holds 64 MiB for one receiver is not bounded enough.
func busLoss(t *testing.T, a, b *busBench) {
	b.listen(a, "room:1")
	hold := make(chan struct{})
	b.change(func() { b.hold = hold; b.suspects = 0 })
	payload := make([]byte, 16<<10)
	const count = 64 << 20 / (16 << 10)
	for range count {
		a.Publish("room:1", payload)
	}
	b.change(func() { b.hold = nil })
	close(hold)
	b.until("Suspect", func() bool { return b.suspects > 0 || len(b.received) == count })
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.received) == count && b.suspects == 0 {
		t.Error("nothing was lost: the queue has no bound")
	}
}
