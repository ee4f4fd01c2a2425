package web

import (
	"context"
	"hash/crc32"
	"log/slog"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/trail"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/user/push"
	"hongbao/web/wire"
	"hongbao/web/wire/frame"
)

// quickStore is a chat.Store without a database, in which every user is a member of every room.
type quickStore struct{ chat.Store }

func (quickStore) Standing(context.Context, string, string) (chat.Standing, error) {
	return chat.Standing{Ever: true, In: true, Role: chat.Plain}, nil
}

// quickLedger is a ledger without a database. Every packet exists in it, and it pays at once. So the benchmarks measure
// everything except SQL.
type quickLedger struct {
	redpacket.Ledger
	shares int
	ended  bool
	paid   *atomic.Int64
}

func (l quickLedger) ref(packet string) redpacket.Ref {
	return redpacket.Ref{ID: packet, Partition: int(crc32.ChecksumIEEE([]byte(packet)) % redpacket.Partitions)}
}

func (l quickLedger) Packet(_ context.Context, packet string) (redpacket.Packet, error) {
	return redpacket.Packet{Ref: l.ref(packet), Room: "r-1", Count: l.shares}, nil
}

func (l quickLedger) Image(_ context.Context, packet string) (redpacket.Image, error) {
	i := redpacket.Image{Ref: l.ref(packet), Count: l.shares, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	if l.ended {
		i.Status = redpacket.Drained
	}
	return i, nil
}

func (l quickLedger) Book(ctx context.Context, packet string) (redpacket.Book, error) {
	p, err := l.Packet(ctx, packet)
	won := redpacket.Paid{User: chat.User{ID: "u-0"}, Amount: 134, At: time.Now()}
	return redpacket.Book{Packet: p, Status: redpacket.Drained, Claims: []redpacket.Paid{won}}, err
}

// Settle pays every claim at once.
func (l quickLedger) Settle(_ context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	settled := make([]redpacket.Settlement, len(claims))
	for i, c := range claims {
		had := (l.paid.Add(1) - 1) / benchCrowd
		settled[i] = redpacket.Settlement{
			Verdict: redpacket.PaidNow, Share: c.Share, Amount: 134, At: c.At,
			Account: redpacket.Account{Balance: redpacket.Money(had+1) * 134, NextCommitment: "5c1b"},
		}
	}
	return settled
}

func (quickLedger) OutOfReach() error { return nil }

const benchCrowd = 1000

// quickServer returns a server without SQL and sockets, and callers with the IDs u-0, u-1 and so on.
func quickServer(tb testing.TB, ledger quickLedger, change ...func(*Options)) (*Server, []api.Caller) {
	tb.Helper()
	log := slog.New(slog.DiscardHandler)
	h := hub.New(hub.Options{Encode: push.NewEncoder().Encode, Ping: push.Ping, Log: log})
	pub := push.NewPublisher(h, chat.NewID(time.Now()))
	rooms := chat.New(quickStore{}, pub, chat.Options{Log: log})
	packets := redpacket.New(ledger, memstore.NewPool(memstore.Options{}), rooms, pub, redpacket.Options{Log: log})
	o := Options{JWT: auth.JWT{Secret: testSecret}, Presence: memstore.NewDirectory().Presence(), Alone: true, Log: log}
	for _, f := range change {
		f(&o)
	}
	s, err := New(h, pub, rooms, packets, o)
	if err != nil {
		tb.Fatal(err)
	}
	h.SetPeers(s.Peers())
	pub.CacheStandings(rooms)
	callers := make([]api.Caller, benchCrowd)
	for i := range callers {
		callers[i].User.ID = "u-" + strconv.Itoa(i)
	}
	return s, callers
}

// answered does what a session does with a frame that holds one command, except for the session's queues. It returns
// the reply.
func answered(tb testing.TB, s *Server, c api.Caller, e wire.Encoding, data []byte) []byte {
	commands, err := frame.Decode(e, data)
	if err != nil {
		tb.Fatal(err)
	}
	began := time.Now()
	rpc := commands[0].Rpc
	request := api.NewRequest(rpc.Method, rpc.Data)
	s.commands.FromMemory(c.User.ID, &request)
	answer, err := s.commands.Answer(context.Background(), c, &request)
	if err != nil {
		tb.Fatal(err)
	}
	reply, err := wire.RPCReply(e, commands[0].Id, answer)
	if err != nil {
		tb.Fatal(err)
	}
	s.metrics.Command(request.Name(), 0, time.Since(began))
	return reply
}

func grabFrame(packet string) []byte {
	return []byte(`{"id":1234,"rpc":{"method":"grab","data":{"packet":"` + packet + `"}}}`)
}

// TestAnswersAllocateLittle counts the allocations of grabs. A grab that is answered from memory may make five: the
// command, its data, the call, the packet's id and the reply. A winning grab may make thirty.
func TestAnswersAllocateLittle(t *testing.T) {
	s, callers := quickServer(t, quickLedger{shares: 1, ended: true})
	frame := grabFrame("018f3e6c2b7a4c0d9e1f2a3b4c5d6e7f")
	for name, c := range map[string]api.Caller{"already": callers[0], "empty": callers[1]} {
		if n := testing.AllocsPerRun(100, func() { answered(t, s, c, wire.JSON, frame) }); n > 5 {
			t.Errorf("%s: %v allocations, want at most 5", name, n)
		}
	}
	won, callers := quickServer(t, quickLedger{shares: benchCrowd + 1, paid: new(atomic.Int64)})
	i := 0
	if n := testing.AllocsPerRun(benchCrowd-1, func() { answered(t, won, callers[i], wire.JSON, frame); i++ }); n > 30 {
		t.Errorf("won: %v allocations, want at most 30", n)
	}
}

// BenchmarkAnswer measures a grab of a finished packet, from the frame to the reply.
func BenchmarkAnswer(b *testing.B) {
	limited := func(o *Options) {
		now := time.Now()
		later := func() time.Time { now = now.Add(time.Second); return now } // so much time passes between calls that no rate limit is reached
		o.Rates, o.Local = true, memstore.NewLimiter(memstore.LimiterOptions{Now: later})
	}
	for _, test := range []struct {
		name string
		from int // index of the first caller
		each int // increment of the caller's index after each grab
		with []func(*Options)
	}{
		{"empty", 1, 1, nil},
		{"already", 0, 0, nil},
		{"empty, kept", 1, 1, []func(*Options){func(o *Options) {
			o.Trail = trail.NewRecorder(struct{ trail.Store }{}, time.Now, slog.New(slog.DiscardHandler)) // nothing is written: Run does not run
		}}},
		{"empty, rates", 1, 1, []func(*Options){limited}},
	} {
		b.Run(test.name, func(b *testing.B) {
			s, callers := quickServer(b, quickLedger{shares: 1, ended: true}, test.with...)
			frame := grabFrame("018f3e6c2b7a4c0d9e1f2a3b4c5d6e7f")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				answered(b, s, callers[(test.from+i*test.each)%benchCrowd], wire.JSON, frame)
			}
		})
	}
}

// BenchmarkWon measures a winning grab, without SQL and sockets. Each packet has one share more than there are callers,
// so it never ends.
func BenchmarkWon(b *testing.B) {
	s, callers := quickServer(b, quickLedger{shares: benchCrowd + 1, paid: new(atomic.Int64)})
	b.ReportAllocs()
	var frame []byte
	for i := 0; b.Loop(); i++ {
		if i%benchCrowd == 0 {
			frame = grabFrame("018f3e6c2b7a4c0d9e1f2a3b" + strconv.Itoa(10_000_000+i/benchCrowd))
		}
		answered(b, s, callers[i%benchCrowd], wire.JSON, frame)
	}
}
