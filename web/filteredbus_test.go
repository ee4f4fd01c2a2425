package web

import (
	"context"
	"sync"
	"testing"

	"hongbao/hub"
)

// filteredBus drops some incoming messages and delays others until the test releases them.
type filteredBus struct {
	hub.Bus

	mu    sync.Mutex // guards the following
	loses func(topic string, payload []byte) bool
	holds func(topic string, payload []byte) bool
	held  []func()
}

func (p *filteredBus) Run(ctx context.Context, r hub.Receiver) error {
	return p.Bus.Run(ctx, filteredReceiver{r, p})
}

// pick sets which messages are dropped and which are delayed from now on.
func (p *filteredBus) pick(loses, holds func(topic string, payload []byte) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loses, p.holds = loses, holds
}

// release delivers the delayed messages. From then on nothing is dropped or delayed.
func (p *filteredBus) release() {
	p.mu.Lock()
	held := p.held
	p.held, p.loses, p.holds = nil, nil, nil
	p.mu.Unlock()
	for _, give := range held {
		give()
	}
}

func (p *filteredBus) holding() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held)
}

type filteredReceiver struct {
	hub.Receiver
	bus *filteredBus
}

func (r filteredReceiver) Receive(topic string, payload []byte) {
	r.bus.mu.Lock()
	lost := r.bus.loses != nil && r.bus.loses(topic, payload)
	held := r.bus.holds != nil && r.bus.holds(topic, payload)
	if held {
		r.bus.held = append(r.bus.held, func() { r.Receiver.Receive(topic, payload) })
	}
	r.bus.mu.Unlock()
	if !lost && !held {
		r.Receiver.Receive(topic, payload)
	}
}

// twoInstancesFilteredBus returns two instances. The second one has the returned filteredBus.
func twoInstancesFilteredBus(t *testing.T, change ...func(*Options)) (a, b *testServer, bus *filteredBus) {
	t.Helper()
	return newTestEngines(t).twoInstancesFilteredBus(t, change...)
}

func (engines *testEngines) twoInstancesFilteredBus(t *testing.T, change ...func(*Options)) (a, b *testServer, bus *filteredBus) {
	t.Helper()
	a = engines.open(t, change...)
	bus = &filteredBus{}
	engines.wrap = func(inner hub.Bus) hub.Bus {
		bus.Bus = inner
		return bus
	}
	b = engines.open(t, append(change, func(o *Options) { o.Alone = true })...) // with Alone, connecting does not cause a recheck
	return a, b, bus
}
