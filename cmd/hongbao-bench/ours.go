package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/redpacket"
	"hongbao/store/pgstore"
	"hongbao/store/redisstore"
)

// serviceScheme is our service as an instance runs it: Redis decides, Postgres commits, and then the grab is answered.
// Every user is a member of every room, because the published schemes have no rooms.
type serviceScheme struct {
	packetIDs *packetIDs
	redis     *redisstore.Store
	pg        *pgstore.Store
	gate      *schemes.Database

	rooms   *chat.Service
	packets *redpacket.Service
}

var _ schemes.Scheme = (*serviceScheme)(nil)

// packetIDs maps the packet ids of the schemes, by database, to ours. All instances that one schemes.Named makes share it,
// because real clients know the ids of packets from the server.
type packetIDs struct{ ids sync.Map }

// allMembers answers that every user is a member of every room.
type allMembers struct{}

// Standing implements redpacket.Rooms.
func (allMembers) Standing(context.Context, string, string) (chat.Standing, error) {
	return chat.Standing{Ever: true, In: true}, nil
}

// StoredStanding implements redpacket.Rooms.
func (allMembers) StoredStanding(context.Context, string, string) (chat.Standing, error) {
	return chat.Standing{Ever: true, In: true}, nil
}

// Forget implements redpacket.Rooms.
func (allMembers) Forget(string, string) {}

// Away implements redpacket.Rooms.
func (allMembers) Away(context.Context, string, string) ([]string, error) { return nil, nil }

// NoteOutcome implements redpacket.Rooms.
func (allMembers) NoteOutcome(string, error) {}

func oursService(log *slog.Logger) schemes.Named {
	known := &packetIDs{}
	return schemes.Named{
		Name: "hongbao", From: "ours", Decides: "one script for many concurrent grabs", Stores: "group commit, before the answer",
		Make: func(e schemes.Engines) (schemes.Scheme, error) {
			return openService(context.Background(), e, known, log)
		},
	}
}

func openService(ctx context.Context, e schemes.Engines, known *packetIDs, log *slog.Logger) (*serviceScheme, error) {
	r, err := redisstore.Open(ctx, e.RedisURL, log)
	if err != nil {
		return nil, err
	}
	pg, err := pgstore.Open(ctx, e.DB.URL(), log)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	s := &serviceScheme{packetIDs: known, redis: r, pg: pg, gate: e.DB, rooms: chat.New(pg, chat.Discard{}, chat.Options{Log: log})}
	// The comparison is about grabbing, so the limits of packets are far wider than a server's.
	limits := redpacket.Limits{MaxTotal: 1 << 50, MaxCount: 1 << 20, MinTTL: time.Millisecond}
	s.packets = redpacket.New(gatedLedger{pg, e.DB}, r.Pool(), allMembers{}, chat.Discard{}, redpacket.Options{Log: log, Limits: limits})
	return s, nil
}

// Open implements schemes.Scheme. It creates the sender's room unless it exists, funds the sender's wallet, and sends the packet.
func (s *serviceScheme) Open(ctx context.Context, p schemes.Packet) error {
	from := chat.User{ID: p.Sender, Name: p.Sender}
	room, _, err := s.rooms.CreateRoom(ctx, from, chat.CreateRoom{Key: "room", Name: "hall", Kind: chat.Public})
	if err != nil {
		return err
	}
	if _, _, err := s.packets.Adjust(ctx, redpacket.AdjustRequest{User: p.Sender, Amount: redpacket.Money(p.Total()), Key: "fund-" + p.ID}); err != nil {
		return err
	}
	sent, err := s.packets.Send(ctx, from, redpacket.SendRequest{
		Room: room.Room.ID, Key: p.ID, Total: redpacket.Money(p.Total()), Count: len(p.Shares), TTL: cmp.Or(p.TTL, time.Hour),
	})
	if err != nil {
		return fmt.Errorf("send %s: %w", p.ID, err)
	}
	s.packetIDs.ids.Store(s.gate.URL()+p.ID, sent.Packet.ID)
	return nil
}

// id returns our id of a packet, or the given id if the packet was never opened.
func (s *serviceScheme) id(packet string) string {
	id, ok := s.packetIDs.ids.Load(s.gate.URL() + packet)
	if !ok {
		return packet
	}
	return id.(string)
}

// Grab implements schemes.Scheme.
func (s *serviceScheme) Grab(ctx context.Context, packet, user string) (schemes.Answer, error) {
	r, err := s.packets.Grab(ctx, redpacket.GrabRequest{User: user, Packet: s.id(packet)})
	switch {
	case errors.Is(err, chat.ErrNotFound):
		return schemes.Answer{Verdict: schemes.Unknown}, nil
	case err != nil:
		return schemes.Answer{}, err
	}
	switch r.Outcome {
	case redpacket.OutcomeWon:
		return schemes.Answer{Verdict: schemes.Got, Amount: int64(r.Amount)}, nil
	case redpacket.OutcomeAlready:
		return schemes.Answer{Verdict: schemes.Already}, nil
	case redpacket.OutcomeEmpty:
		return schemes.Answer{Verdict: schemes.Gone}, nil
	case redpacket.OutcomeExpired:
	}
	return schemes.Answer{Verdict: schemes.Unknown}, nil
}

// Run implements schemes.Scheme.
func (s *serviceScheme) Run(ctx context.Context) error { return s.packets.Run(ctx) }

// Stored implements schemes.Scheme.
func (s *serviceScheme) Stored(ctx context.Context, packet string) (schemes.Book, error) {
	book, err := s.pg.Book(ctx, s.id(packet))
	switch {
	case errors.Is(err, chat.ErrNotFound):
		return schemes.Book{}, schemes.ErrNotFound
	case err != nil:
		return schemes.Book{}, err
	}
	b := schemes.Book{Refunded: int64(book.Refunded), Left: int64(book.Packet.Total - book.Refunded)}
	for _, c := range book.Claims {
		b.Paid = append(b.Paid, schemes.Paid{User: c.User.ID, Amount: int64(c.Amount)})
		b.Left -= int64(c.Amount)
	}
	return b, nil
}

// Audit checks the books.
func (s *serviceScheme) Audit(ctx context.Context) error {
	a, err := s.packets.Audit(ctx)
	switch {
	case err != nil:
		return err
	case len(a.Differences) > 0:
		return fmt.Errorf("audit found %d differences, the first: %+v", len(a.Differences), a.Differences[0])
	case a.Funded != a.InWallets+a.InPackets:
		return fmt.Errorf("funded %d, in wallets %d and in packets %d", a.Funded, a.InWallets, a.InPackets)
	}
	return nil
}

// Close closes the connections.
func (s *serviceScheme) Close() error {
	s.rooms.Stop()
	return errors.Join(s.pg.Close(), s.redis.Close())
}

// deadlineOf returns the packet's deadline.
func deadlineOf(p schemes.Packet) time.Time { return time.Now().Add(cmp.Or(p.TTL, time.Hour)) }

// gatedLedger is our ledger behind the gate that the published schemes also have. With it, a scenario stops or kills
// our service before a write, as it does with a scheme. Only Send, Settle and End pass the gate.
type gatedLedger struct {
	redpacket.Ledger

	gate *schemes.Database
}

func (l gatedLedger) pass(ctx context.Context) error {
	err := l.gate.Pass(ctx)
	if err != nil && !errors.Is(err, chat.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", chat.ErrUnavailable, err)
	}
	return err
}

// Send implements redpacket.Ledger.
func (l gatedLedger) Send(ctx context.Context, o redpacket.UnsealedPacket) (redpacket.Sent, error) {
	if err := l.pass(ctx); err != nil {
		return redpacket.Sent{}, err
	}
	return l.Ledger.Send(ctx, o)
}

// Settle implements redpacket.Ledger.
func (l gatedLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	if err := l.pass(ctx); err != nil {
		return redpacket.AllUnsettled(len(claims), err)
	}
	return l.Ledger.Settle(ctx, claims)
}

// End implements redpacket.Ledger.
func (l gatedLedger) End(ctx context.Context, c redpacket.Close) (redpacket.Closed, error) {
	if err := l.pass(ctx); err != nil {
		return redpacket.Closed{}, err
	}
	return l.Ledger.End(ctx, c)
}

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
