package web

import (
	"context"
	"sync"
	"testing"

	"hongbao/hub"
)

// pickyBus loses some of what comes in, and keeps some of it back, until it is told to give that out.
type pickyBus struct {
	hub.Bus

	mu    sync.Mutex // guards the following
	loses func(topic string, payload []byte) bool
	holds func(topic string, payload []byte) bool
	held  []func()
}

func (p *pickyBus) Run(ctx context.Context, r hub.Receiver) error {
	return p.Bus.Run(ctx, pickyReceiver{r, p})
}

// pick says what is lost and held from now on.
func (p *pickyBus) pick(loses, holds func(topic string, payload []byte) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loses, p.holds = loses, holds
}

// release gives out what was held, and loses and holds nothing any more.
func (p *pickyBus) release() {
	p.mu.Lock()
	held := p.held
	p.held, p.loses, p.holds = nil, nil, nil
	p.mu.Unlock()
	for _, give := range held {
		give()
	}
}

func (p *pickyBus) holding() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held)
}

type pickyReceiver struct {
	hub.Receiver
	bus *pickyBus
}

func (r pickyReceiver) Receive(topic string, payload []byte) {
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

// pickyPair is two instances, of which the second one has such a bus.
func pickyPair(t *testing.T) (a, b *testServer, bus *pickyBus) {
	t.Helper()
	return newTestHouse(t).pickyPair(t)
}

func (house *testHouse) pickyPair(t *testing.T) (a, b *testServer, bus *pickyBus) {
	t.Helper()
	a = house.open(t)
	bus = &pickyBus{}
	house.wrap = func(inner hub.Bus) hub.Bus {
		bus.Bus = inner
		return bus
	}
	return a, house.open(t, func(o *Options) { o.Alone = true }), bus // so that connecting is no reason to look
}
