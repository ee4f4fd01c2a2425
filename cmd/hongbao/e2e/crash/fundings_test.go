package crash

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

var (
	fundKills = flag.Int("fund.kills", 3, "how often each TestFundingsBalance kills a server")
	fundSeed  = flag.Uint64("fund.seed", 0, "kill servers at the moments of this seed")
)

const (
	payers      = 8
	hostBalance = 10_000 // of each user at the example web/docs/examples/wallet
)

// TestFundingsBalanceAfterKills kills one server.
func TestFundingsBalanceAfterKills(t *testing.T) {
	enginetest.Nightly(t, "crash")
	t.Parallel()
	fundingsBalance(t, func(binary string, variables []string) ([]*e2e.Server, *e2e.Server) {
		s := e2e.Start(t, binary, t.TempDir(), e2e.FreeAddress(t), variables...)
		return []*e2e.Server{s}, s
	})
}

// TestFundingsBalanceOverThreeInstances kills any of three servers over one Redis and one Postgres. Only the first one has the server API.
func TestFundingsBalanceOverThreeInstances(t *testing.T) {
	enginetest.Nightly(t, "crash")
	enginetest.Need(t, "Redis and Postgres")
	fundingsBalance(t, func(binary string, variables []string) ([]*e2e.Server, *e2e.Server) {
		others := slices.DeleteFunc(slices.Clone(variables), func(v string) bool { return strings.HasPrefix(v, "HONGBAO_API_") })
		c := e2e.StartCluster(t, binary, storetest.Redis(t), storetest.Database(t), variables, others, others)
		return c.Servers, c.Front()
	})
}

// fundingsBalance has users send packets that the example of an outside wallet pays, while the server is killed at random
// moments. Some packets are refused after the host has taken the money; some users never repeat a request whose answer was lost. At the
// end, what the host has taken and not put back is, funding by funding, what was credited here.
func fundingsBalance(t *testing.T, start func(binary string, variables []string) (servers []*e2e.Server, audited *e2e.Server)) {
	seed := cmp.Or(*fundSeed, rand.Uint64())
	t.Logf("repeat these moments with -fund.seed=%d", seed)
	binary, host, api, clock := e2e.Build(t, "crashpoints"), e2e.StartHost(t, "wallet"), e2e.FreeAddress(t), filepath.Join(t.TempDir(), "clock")
	key, variables := e2e.APIKey(t, binary, api)
	e2e.NoError(t, os.WriteFile(clock, []byte("0s"), 0o600))
	p := &payingCrowd{t: t, sent: map[string]int64{}}
	var audited *e2e.Server
	p.servers, audited = start(binary, slices.Concat(
		variables, host.Hook("send_packet"), host.Webhook("transfer.*"), []string{"HONGBAO_HOOK_FUND=on", "HONGBAO_HOOK_TIMEOUT=1s", "HONGBAO_GUEST_CREDIT=0", "HONGBAO_CLOCK_FILE=" + clock}))
	for n := range payers {
		p.guests = append(p.guests, p.servers[0].Guest(fmt.Sprint("payer ", n)))
	}
	p.room = p.must(p.guests[0], "create_room", wire.CreateRoomRequest{Key: "room", Name: "Payers", Kind: "public"}, "room.id")
	for _, g := range p.guests[1:] {
		p.must(g, "join", wire.JoinRequest{Room: p.room}, "room.id")
	}

	began := time.Now()
	dice := rand.New(rand.NewPCG(seed, 0))
	stop := make(chan struct{})
	var paying sync.WaitGroup
	for n := range payers {
		paying.Go(func() { p.pay(n, rand.New(rand.NewPCG(seed, uint64(n+1))), stop) })
	}
	for range *fundKills {
		time.Sleep(300*time.Millisecond + time.Duration(dice.Int64N(int64(time.Second))))
		killed := dice.IntN(len(p.servers))
		p.server(killed).Kill()
		p.setServer(killed, p.server(killed).Restart())
	}
	close(stop)
	paying.Wait()
	t.Logf("killed after %s", time.Since(began))
	e2e.NoError(t, os.WriteFile(clock, []byte("1m"), 0o600)) // fundings that are left are old now

	var ledger struct {
		Spent, Debits map[string]int64
		Reversed      map[string]bool
	}
	credited := map[string]int64{}
	reversed := 0
	balanced := func() string {
		clear(ledger.Debits)
		clear(credited)
		reversed = 0
		host.Get("/ledger", &ledger)
		for _, e := range e2e.HostEvents(t, api, key, "transfer.credit,transfer.reversed") {
			switch id := e.Data.Details.Funding; e.Type {
			case "transfer.credit":
				if credited[id] != 0 {
					return "funding " + id + " was credited twice"
				}
				credited[id] = e.Data.Details.Amount
			default:
				if reversed++; !ledger.Reversed[id] {
					return "the host has not heard that " + id + " is reversed"
				}
			}
		}
		for id, amount := range ledger.Debits {
			if credited[id] != amount {
				return fmt.Sprintf("the host took %d for %s, and %d was credited", amount, id, credited[id])
			}
		}
		if len(ledger.Debits) != len(credited) {
			return fmt.Sprintf("%d fundings were credited, and the host paid %d", len(credited), len(ledger.Debits))
		}
		return ""
	}
	e2e.Eventually(t, 40*time.Second, "both ledgers agree", func() bool { return balanced() == "" })
	if wrong := balanced(); wrong != "" {
		t.Fatal(wrong)
	}
	t.Logf("agreed after %s", time.Since(began))
	total := int64(0)
	for _, amount := range credited {
		total += amount
	}
	spent := int64(0)
	for _, amount := range ledger.Spent {
		spent += amount
		if amount > hostBalance {
			t.Errorf("a user has spent %d of %d", amount, hostBalance)
		}
	}
	if total != spent || len(p.sent) == 0 || total == 0 {
		t.Errorf("%d was credited, and the users have spent %d at the host; %d packets were acknowledged", total, spent, len(p.sent))
	}
	p.checkSent()
	audited.MustBalance()
	t.Logf("%d kills: %d packets acknowledged, %d fundings credited with %d, %d reversed, %d requests given up", *fundKills, len(p.sent), len(credited), total, reversed, p.givenUp)
}

// payingCrowd is some guests that send packets.
type payingCrowd struct {
	t      *testing.T
	guests []wire.GuestReply
	room   string

	mu      sync.Mutex
	servers []*e2e.Server    // guarded by mu
	sent    map[string]int64 // guarded by mu; total by the id of an acknowledged packet
	givenUp int              // guarded by mu; requests whose outcome the user never learned
}

func (p *payingCrowd) setServer(n int, s *e2e.Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers[n] = s
}

// server returns one of the servers. Any number will do.
func (p *payingCrowd) server(n int) *e2e.Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.servers[n%len(p.servers)]
}

// must sends a command that succeeds, and returns a text of its reply.
func (p *payingCrowd) must(g wire.GuestReply, method string, request any, _ string) string {
	p.t.Helper()
	status, answer, err := p.server(0).Post(g.Token, "commands/"+method, request)
	var reply struct{ Room struct{ ID string } }
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal(answer, &reply)
	}
	if err != nil || status != http.StatusOK {
		p.t.Fatalf("%s: %d %s, %v", method, status, answer, err)
	}
	return reply.Room.ID
}

// pay has guest n send packets until the host's money is spent several times over, or stop is closed.
func (p *payingCrowd) pay(n int, dice *rand.Rand, stop <-chan struct{}) {
	most := int64(2000 / *fundKills) // the money lasts for most of the test
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(dice.Int64N(int64(20 * time.Millisecond)))):
		}
		request := wire.SendPacketRequest{Room: p.room, Key: fmt.Sprintf("packet-%d-%d", n, i), Total: 1 + dice.Int64N(most), Count: new(1)}
		if dice.IntN(8) == 0 {
			request.Commitment = "00" // refused after the host has taken the money
		}
		patient := dice.IntN(3) > 0
		for {
			status, answer, err := p.server(dice.IntN(3)).Post(p.guests[n].Token, "commands/send_packet", request)
			var reply wire.SendPacketReply
			switch {
			case err == nil && status == http.StatusOK && json.Unmarshal(answer, &reply) == nil:
				p.mu.Lock()
				p.sent[reply.Packet.ID] = request.Total
				p.mu.Unlock()
			case err == nil && status < 500: // refused
			case patient:
				time.Sleep(50 * time.Millisecond)
				continue
			default:
				p.mu.Lock()
				p.givenUp++
				p.mu.Unlock()
				time.Sleep(100 * time.Millisecond)
			}
			break
		}
	}
}

// checkSent checks that each acknowledged packet is stored with its total.
func (p *payingCrowd) checkSent() {
	p.t.Helper()
	for id, total := range p.sent {
		status, answer, err := p.server(0).Post(p.guests[0].Token, "commands/packet", wire.PacketRequest{Packet: id})
		var reply wire.PacketReply
		if err == nil {
			err = json.Unmarshal(answer, &reply)
		}
		if err != nil || status != http.StatusOK || reply.Packet.Total != total {
			p.t.Errorf("packet %s of %d: %d %s, %v", id, total, status, answer, err)
		}
	}
}
