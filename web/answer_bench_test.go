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
	"hongbao/web/wire"
)

// quickStore has everybody in every room.
type quickStore struct{ chat.Store }

func (quickStore) Standing(context.Context, string, string) (chat.Standing, error) {
	return chat.Standing{Ever: true, In: true, Role: chat.Plain}, nil
}

// quickLedger knows every packet, and pays at once: what is measured is all but SQL.
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

// Settle pays everybody in turn, as the callers come.
func (l quickLedger) Settle(_ context.Context, claims []redpacket.Claim) ([]redpacket.Settlement, error) {
	settled := make([]redpacket.Settlement, len(claims))
	for i, c := range claims {
		had := (l.paid.Add(1) - 1) / benchCrowd
		settled[i] = redpacket.Settlement{
			Verdict: redpacket.PaidNow, Share: c.Share, Amount: 134, At: c.At,
			Account: redpacket.Account{Balance: redpacket.Money(had+1) * 134, NextCommitment: "5c1b"},
		}
	}
	return settled, nil
}

const benchCrowd = 1000

// quickServer is a server without SQL and without sockets; its callers are u-0, u-1 and so on.
func quickServer(tb testing.TB, ledger quickLedger, change ...func(*Options)) (*Server, []Caller) {
	tb.Helper()
	log := slog.New(slog.DiscardHandler)
	h := hub.New(hub.Options{Encode: NewEncoder().Encode, Ping: Ping, Log: log})
	pub := NewPublisher(h)
	rooms := chat.New(quickStore{}, pub, chat.Options{Log: log})
	packets := redpacket.New(ledger, memstore.NewPool(memstore.Options{}), rooms, pub, redpacket.Options{Log: log})
	o := Options{JWT: JWT{Secret: testSecret}, Presence: memstore.NewDirectory().Presence(), Alone: true, Log: log}
	for _, f := range change {
		f(&o)
	}
	s, err := New(h, pub, rooms, packets, o)
	if err != nil {
		tb.Fatal(err)
	}
	callers := make([]Caller, benchCrowd)
	for i := range callers {
		callers[i].User.ID = "u-" + strconv.Itoa(i)
	}
	return s, callers
}

// patient is a waiter to whom nothing takes long.
type patient struct{}

func (patient) Pending(redpacket.Result) bool { return false }

// answered is what a session does with a frame of one command, but for its queues.
func answered(tb testing.TB, s *Server, c Caller, e wire.Encoding, frame []byte) []byte {
	commands, err := wire.DecodeFrame(e, frame)
	if err != nil {
		tb.Fatal(err)
	}
	began := time.Now()
	rpc := commands[0].Rpc
	c.waiter = patient{}
	answer, err := s.answer(context.Background(), c, rpc.Method, rpc.Data, nil)
	if err != nil {
		tb.Fatal(err)
	}
	reply, err := wire.RPCReply(e, commands[0].Id, answer)
	if err != nil {
		tb.Fatal(err)
	}
	s.metrics.command(methodOf(commands[0]), 0, time.Since(began))
	return reply
}

func grabFrame(packet string) []byte {
	return []byte(`{"id":1234,"rpc":{"method":"grab","data":{"packet":"` + packet + `"}}}`)
}

// TestAnswersAllocateLittle: a grab that is answered from memory makes the command, its data, the exchange, the id in it and
// the reply.
func TestAnswersAllocateLittle(t *testing.T) {
	s, callers := quickServer(t, quickLedger{shares: 1, ended: true})
	frame := grabFrame("018f3e6c2b7a4c0d9e1f2a3b4c5d6e7f")
	for name, c := range map[string]Caller{"already": callers[0], "empty": callers[1]} {
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

// BenchmarkAnswer is a grab of a finished packet, from the frame to the reply.
func BenchmarkAnswer(b *testing.B) {
	limited := func(o *Options) {
		now := time.Now()
		later := func() time.Time { now = now.Add(time.Second); return now } // every bucket is full
		o.Rates, o.Local = true, memstore.NewLimiter(memstore.LimiterOptions{Now: later})
	}
	for _, test := range []struct {
		name string
		from int // the caller
		each int // one more of them for each grab
		with []func(*Options)
	}{
		{"empty", 1, 1, nil},
		{"already", 0, 0, nil},
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

// BenchmarkWon is a grab that wins, without SQL and sockets: each packet has a share for every caller, and one more.
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
