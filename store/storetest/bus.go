package storetest

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"hongbao/hub"
)

// TestBus checks that a bus keeps the contract of hub.Bus. The function open returns the bus ends of two instances.
// The suite calls their Run.
func TestBus(t *testing.T, open func(t *testing.T) (a, b hub.Bus)) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, a, b *BusEnd)
	}{
		{"order per topic", busOrder},
		{"no echo", busNoEcho},
		{"payloads come as they were sent", busPayloads},
		{"subscribing twice delivers once", busTwice},
		{"unsubscribe takes effect", busUnsubscribe},
		{"both ways", busBothWays},
		{"a loss is reported", busLoss},
	} {
		t.Run(test.name, func(t *testing.T) {
			one, other := open(t)
			test.run(t, RunBus(t, one), RunBus(t, other))
		})
	}
}

func busOrder(t *testing.T, a, b *BusEnd) {
	topics := []string{"room:1", "room:2", "room:3"}
	const each = 500
	b.Listen(a, topics...)
	var publishers sync.WaitGroup
	for _, topic := range topics {
		publishers.Go(func() {
			for i := range each {
				a.Say(topic, strconv.Itoa(i))
			}
		})
	}
	publishers.Wait()
	b.Until("all payloads", func() bool { return len(b.Received) >= each*len(topics) })
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, topic := range topics {
		for i, payload := range b.Of(topic) {
			if payload != strconv.Itoa(i) {
				t.Fatalf("%s: payload %d is %s", topic, i, payload)
			}
		}
	}
}

func busNoEcho(t *testing.T, a, b *BusEnd) {
	a.Listen(b, "room:1")
	b.Listen(a, "room:1")
	a.Say("room:1", "from a")
	b.Until("a's payload", func() bool { return len(b.Received) == 1 })
	b.Say("room:1", "from b")
	a.Until("b's payload", func() bool { return len(a.Received) > 0 })
	a.mu.Lock()
	defer a.mu.Unlock()
	if got := a.Of("room:1"); len(got) != 1 || got[0] != "from b" {
		t.Errorf("the publisher received %q, want only the other's", got)
	}
}

func busPayloads(t *testing.T, a, b *BusEnd) {
	b.Listen(a, "user:ü 1")
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	big := make([]byte, 256<<10)
	for _, payload := range [][]byte{{}, all, big} {
		a.Publish("user:ü 1", payload, hub.Kept)
	}
	b.Until("three payloads", func() bool { return len(b.Received) == 3 })
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, want := range []string{"", string(all), string(big)} {
		if got := b.Received[i].Payload; got != want {
			t.Errorf("payload %d: %d bytes came, differing from the %d sent", i, len(got), len(want))
		}
	}
}

func busTwice(t *testing.T, a, b *BusEnd) {
	b.Subscribe("room:1", "room:1")
	b.Listen(a, "room:1")
	a.Say("room:1", "once")
	a.Say("room:1", "end")
	b.Until("the end", func() bool { return len(b.Received) > 0 && b.Received[len(b.Received)-1].Payload == "end" })
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.Received) != 2 {
		t.Errorf("received %q", b.Received)
	}
}

func busUnsubscribe(t *testing.T, a, b *BusEnd) {
	b.Listen(a, "room:1", "room:2")
	b.Unsubscribe("room:1", "never subscribed")
	// Each round publishes to both topics. Once the unsubscription has taken effect, only the messages of room:2 arrive. The
	// topics may use different connections, so one message may be later than the other. The test waits for 20 missing ones.
	for round := 0; ; round++ {
		mark := fmt.Sprint("round ", round)
		a.Say("room:1", mark)
		a.Say("room:2", mark)
		b.Until(mark, func() bool {
			payloads := b.Of("room:2")
			return len(payloads) > 0 && payloads[len(payloads)-1] == mark
		})
		b.mu.Lock()
		came := len(b.Of("room:1"))
		b.mu.Unlock()
		if came <= round-20 {
			break
		}
		if round > 1000 {
			t.Fatal("payloads of an unsubscribed topic keep coming")
		}
	}
	b.Listen(a, "room:1")
	a.Say("room:1", "again")
	b.Until("the topic subscribed again", func() bool { return len(b.Of("room:1")) == 1 })
}

func busBothWays(_ *testing.T, a, b *BusEnd) {
	a.Listen(b, "room:a")
	b.Listen(a, "room:b")
	const each = 300
	var publishers sync.WaitGroup
	for range each {
		publishers.Go(func() { a.Say("room:b", "to b") })
		publishers.Go(func() { b.Say("room:a", "to a") })
	}
	publishers.Wait()
	a.Until("all for a", func() bool { return len(a.Of("room:a")) == each })
	b.Until("all for b", func() bool { return len(b.Of("room:b")) == each })
}

// busLoss blocks the receiver of one end, and publishes 64 MiB at the other end, so that the bus must lose some of it. Publish
// must never block. The receiver gets Suspect, or the last payload, whose number shows the gap. A bus that queues 64 MiB
// for one receiver fails: its queue counts as unbounded.
func busLoss(t *testing.T, a, b *BusEnd) {
	b.Listen(a, "room:1")
	b.Forget()
	release := b.Hold()
	const count = 64 << 20 / (16 << 10)
	payload := func(i int) []byte { return fmt.Appendf(nil, "%-*d", 16<<10, i) }
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for i := range count {
		a.Publish("room:1", payload(i+1), hub.Rank(i+1))
		if i%64 == 0 {
			<-pace.C
		}
	}
	release()
	last := string(payload(count))
	b.Until("Suspect, or the last payload", func() bool {
		came := b.Of("room:1")
		return b.Suspects > 0 || len(came) > 0 && came[len(came)-1] == last
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.Received) == count && b.Suspects == 0 {
		t.Error("nothing was lost: there is no bound")
	}
}
