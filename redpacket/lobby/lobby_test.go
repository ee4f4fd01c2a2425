package lobby

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/sqlitestore"
)

// silent is a publisher that tells nobody.
type silent struct{}

func (silent) Entry(chat.Entry)               {}
func (silent) ToRoom(string, chat.Event)      {}
func (silent) ToUser(string, chat.Event)      {}
func (silent) StandingChanged(string, string) {}

// testDatabase is a database with its services, and a clock for the lobbies over them.
type testDatabase struct {
	*testing.T
	rooms   *chat.Service
	packets *redpacket.Service
	now     time.Time
	guests  int
}

func newTestDatabase(t *testing.T) *testDatabase {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	store, err := sqlitestore.Open(t.Context(), t.TempDir(), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	rooms := chat.New(store, silent{}, chat.Options{Log: log})
	packets := redpacket.New(store, memstore.NewPool(memstore.Options{}), rooms, silent{}, redpacket.Options{Log: log})
	return &testDatabase{T: t, rooms: rooms, packets: packets, now: time.Now()}
}

// lobby opens the lobby, as one more instance or after a restart. Its packets have so many shares.
func (d *testDatabase) lobby(count int) *Lobby {
	d.Helper()
	l, err := Open(d.Context(), d.rooms, d.packets, Options{Now: func() time.Time { return d.now }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		d.Fatal(err)
	}
	if l.count != shares || l.share != share {
		d.Fatalf("%d shares of %d", l.count, l.share)
	}
	l.count = count
	return l
}

// refill lets the lobby look after its packet.
func (d *testDatabase) refill(l *Lobby) string {
	d.Helper()
	if err := l.refill(d.Context()); err != nil {
		d.Fatal(err)
	}
	return l.Welcome()
}

// newcomer has a new guest join the lobby and open its welcome packet.
func (d *testDatabase) newcomer(l *Lobby) redpacket.Result {
	d.Helper()
	d.guests++
	guest := chat.User{ID: fmt.Sprint("guest:", d.guests), Name: "Mei"}
	if _, err := d.rooms.Join(d.Context(), guest, l.Room()); err != nil {
		d.Fatal(err)
	}
	got, err := d.packets.Grab(d.Context(), redpacket.GrabRequest{User: guest.ID, Packet: l.Welcome()})
	if err != nil {
		d.Fatal(err)
	}
	return got
}

// mustHave checks the books, and how much money there is.
func (d *testDatabase) mustHave(funded redpacket.Money) {
	d.Helper()
	a, err := d.packets.Audit(d.Context())
	if err != nil || len(a.Differences) > 0 || a.Funded != funded || a.Funded != a.InWallets+a.InPackets {
		d.Errorf("audit %+v, %v; want %d funded", a, err, funded)
	}
}

// TestNewcomerOpensTheWelcomePacket opens a lobby. A guest that joins after its packet was sent must get a share.
func TestNewcomerOpensTheWelcomePacket(t *testing.T) {
	d := newTestDatabase(t)
	l := d.lobby(shares)
	d.refill(l)
	if got := d.newcomer(l); got.Outcome != redpacket.OutcomeWon || got.Amount != share || got.Count != shares {
		t.Errorf("the newcomer got %+v, want one of %d shares of %d", got, shares, share)
	}
	d.refill(l)
	d.mustHave(shares * share)
}

// TestInstancesShareOneLobby opens the lobby on three instances at once, and again. There must be one room and one packet.
func TestInstancesShareOneLobby(t *testing.T) {
	d := newTestDatabase(t)
	one, two := d.lobby(shares), d.lobby(shares)
	if two.find(t.Context()) != nil { // before one has sent: two knows of no packet either
		t.Fatal("no packets found")
	}
	first := d.refill(one)
	two.last = redpacket.Packet{}
	if err := two.send(t.Context()); err != nil {
		t.Fatal(err)
	}
	later := d.lobby(shares)
	if d.refill(later) != first || two.Welcome() != first || one.Room() != two.Room() || one.Room() != later.Room() {
		t.Errorf("packets %s, %s, %s in rooms %s, %s, %s; want one packet in one room",
			first, two.Welcome(), later.Welcome(), one.Room(), two.Room(), later.Room())
	}
	d.mustHave(shares * share)
}

// TestNextPacketFollowsThePause opens all shares of a packet. The next one must come a minute after it, and once.
func TestNextPacketFollowsThePause(t *testing.T) {
	d := newTestDatabase(t)
	one, two := d.lobby(3), d.lobby(3)
	first := d.refill(one)
	d.refill(two)
	d.now = d.now.Add(time.Hour)
	if d.refill(one) != first {
		t.Error("another packet was sent although the last one is open")
	}
	for range 3 {
		if got := d.newcomer(one); got.Outcome != redpacket.OutcomeWon {
			t.Errorf("a newcomer got %+v", got)
		}
	}
	d.now = one.last.CreatedAt.Add(minPause - 1)
	if d.refill(one) != first {
		t.Error("another packet was sent within the pause")
	}
	d.now = one.last.CreatedAt.Add(minPause)
	next := d.refill(one)
	if next == first || d.refill(two) != next || d.refill(one) != next {
		t.Errorf("packets %s, %s and %s; want one after %s", one.Welcome(), two.Welcome(), next, first)
	}
	d.mustHave(6 * share)
}

// TestReturnedMoneyIsSentAgain ends packets that nobody has opened. Their money must pay for the next ones.
func TestReturnedMoneyIsSentAgain(t *testing.T) {
	d := newTestDatabase(t)
	l := d.lobby(shares)
	for range 3 {
		if _, _, err := d.packets.Cancel(t.Context(), Host.ID, d.refill(l)); err != nil {
			t.Fatal(err)
		}
		d.now = d.now.Add(2 * minPause)
	}
	d.mustHave(shares * share)
}

// TestAnotherCountGoesOn changes the number of shares on one of two instances, which has missed a packet of the other one.
func TestAnotherCountGoesOn(t *testing.T) {
	d := newTestDatabase(t)
	old, changed := d.lobby(3), d.lobby(5)
	first := d.refill(old)
	d.refill(changed)
	for range 3 {
		d.newcomer(old)
	}
	d.now = d.now.Add(2 * minPause)
	second := d.refill(old)
	if got := d.refill(changed); got != second || got == first {
		t.Errorf("the instance with the other count has packet %s, want %s", got, second)
	}
	for range 3 {
		d.newcomer(changed)
	}
	d.now = d.now.Add(4 * minPause)
	if got := d.refill(changed); got == second || changed.last.Count != 5 {
		t.Errorf("the next packet is %+v, want one of 5 shares", changed.last)
	}
}
