package main

import (
	"context"
	"errors"
	"hash/crc32"
	"log/slog"
	"slices"
	"sync"

	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/redpacket"
	"hongbao/store/redisstore"
)

// acknowledgements is the largest number of claims that wait for Run. It is less than the outbox of a partition holds.
const acknowledgements = 8_000

// poolScheme is our pool without a ledger: Redis decides, and nothing is stored. Claims stay in the outbox until Run
// acknowledges them, as the service does after a commit.
type poolScheme struct {
	store *redisstore.Store
	pool  redpacket.Pool
	acks  chan redpacket.Claim

	mu      sync.RWMutex
	packets map[string]schemes.Packet // guarded by mu
}

var _ schemes.Scheme = (*poolScheme)(nil)

func oursPool(log *slog.Logger) schemes.Named {
	return schemes.Named{
		Name: "pool", From: "ours", Decides: "one script for many concurrent grabs", Stores: "nothing: the part in Redis only",
		Make: func(e schemes.Engines) (schemes.Scheme, error) {
			store, err := redisstore.Open(context.Background(), e.RedisURL, log)
			if err != nil {
				return nil, err
			}
			return &poolScheme{store: store, pool: store.Pool(), acks: make(chan redpacket.Claim, acknowledgements), packets: map[string]schemes.Packet{}}, nil
		},
	}
}

// ref returns the pool's name of a packet, which has the same id.
func (*poolScheme) ref(packet string) redpacket.Ref {
	return redpacket.Ref{ID: packet, Partition: int(crc32.ChecksumIEEE([]byte(packet)) % redpacket.Partitions)}
}

// Open implements schemes.Scheme.
func (s *poolScheme) Open(ctx context.Context, p schemes.Packet) error {
	s.mu.Lock()
	s.packets[p.ID] = p
	s.mu.Unlock()
	return s.pool.Load(ctx, redpacket.Image{Ref: s.ref(p.ID), Count: len(p.Shares), Deadline: deadlineOf(p), Status: redpacket.Open})
}

// Grab implements schemes.Scheme.
func (s *poolScheme) Grab(ctx context.Context, packet, user string) (schemes.Answer, error) {
	s.mu.RLock()
	p, known := s.packets[packet]
	s.mu.RUnlock()
	if !known {
		return schemes.Answer{Verdict: schemes.Unknown}, nil
	}
	answers, err := s.pool.Grab(context.WithoutCancel(ctx), []redpacket.Attempt{{Ref: s.ref(packet), User: user}})
	if err != nil {
		return schemes.Answer{}, err
	}
	switch got := answers[0]; got.Decision {
	case redpacket.Granted:
		s.acks <- redpacket.Claim{Ref: s.ref(packet), Share: got.Share, User: user, Entry: got.Entry}
		return schemes.Answer{Verdict: schemes.Got, Amount: p.Shares[got.Share]}, nil
	case redpacket.Yours:
		return schemes.Answer{Verdict: schemes.Already}, nil
	case redpacket.IsEmpty:
		return schemes.Answer{Verdict: schemes.Gone}, nil
	case redpacket.IsClosed, redpacket.IsLate:
		return schemes.Answer{Verdict: schemes.Unknown}, nil
	}
	return schemes.Answer{}, errors.New("the pool is busy or has lost the packet")
}

// Run implements schemes.Scheme: it acknowledges the claims in the outbox.
func (s *poolScheme) Run(ctx context.Context) error {
	claims := make([]redpacket.Claim, 0, 500)
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-s.acks:
			claims = append(claims, c)
		}
		for len(s.acks) > 0 && len(claims) < cap(claims) {
			claims = append(claims, <-s.acks)
		}
		if err := s.pool.Ack(context.WithoutCancel(ctx), slices.Clone(claims)); err != nil {
			return err
		}
		claims = claims[:0]
	}
}

// Stored implements schemes.Scheme.
func (*poolScheme) Stored(context.Context, string) (schemes.Book, error) {
	return schemes.Book{}, schemes.ErrNotFound
}

// Close closes the connections.
func (s *poolScheme) Close() error { return s.store.Close() }
