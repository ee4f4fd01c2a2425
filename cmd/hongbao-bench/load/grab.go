package load

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/web/wire"
)

// grab is the scenario in which users grab the packets of their rooms. A user grabs a packet at most once; unless the loop is
// closed, some grabs are double clicks. If the packets are grabbed one after the other, all users are in one room. If many
// packets are grabbed at the same time, they are spread over rooms of at most the plan's size.
type grab struct{}

const (
	shareOnAverage = 100 // minor units
	packetTTL      = int64(3600)
	doubleClicks   = 20 // on average, one grab in this many is sent twice; a closed loop has no double clicks
	richUsers      = 64 // most users that send the packets; with more rooms than this, one in each room
)

func (grab) prepare(ctx context.Context, c *group) error {
	if !c.plan.spread() {
		c.plan.RoomSize = len(c.users)
	}
	if err := c.fillRooms(ctx); err != nil {
		return err
	}
	return c.sendPackets(ctx)
}

// spread reports whether many packets are grabbed at the same time.
func (p Plan) spread() bool { return p.Packets > 1 && !p.Closed }

// packets returns how many packets the plan needs.
func (p Plan) packets() int {
	if p.Closed || p.Packets > 1 {
		return p.Packets
	}
	return max(1, (int(p.Rate*p.Duration.Seconds())+p.Users-1)/p.Users)
}

func (grab) play(ctx context.Context, c *group) error {
	if c.plan.Closed {
		closedLoop(ctx, len(c.users), c.plan.Duration, func(i int, due time.Time, answered func()) bool {
			if i >= len(c.packetLogs)*c.grabbers() {
				return false
			}
			u, p := c.place(i)
			c.grab(u, p, due, answered)
			return true
		})
		return ctx.Err()
	}
	random := rand.New(rand.NewPCG(c.plan.Seed, 1))
	s := newSchedule(time.Now(), c.plan.Rate, c.plan.Duration)
	s.n = min(s.n, len(c.packetLogs)*c.grabbers())
	twice := make([]bool, s.n)
	for i := range twice {
		twice[i] = random.IntN(doubleClicks) == 0
	}
	s.follow(ctx, func(i int, due time.Time) {
		u, p := c.place(i)
		c.grab(u, p, due, func() {})
		if twice[i] {
			c.grab(u, p, due, func() {})
		}
	})
	return ctx.Err()
}

// place returns the user and the packet of the i-th grab. Packets come one after the other, or all at the same time.
// No two numbers have the same user and the same packet.
func (c *group) place(i int) (*user, *packetLog) {
	packet, before := i/c.grabbers(), i%c.grabbers()
	if c.plan.spread() {
		packet, before = i%len(c.packetLogs), i/len(c.packetLogs)
	}
	return c.member(packet, before), c.packetLogs[packet]
}

// grab sends a user's grab.
func (c *group) grab(u *user, p *packetLog, due time.Time, answered func()) {
	c.sent.Add(1)
	c.open.Add(1)
	u.send(&call{method: "grab", data: p.request, due: due, answered: func(now time.Time, data []byte, failed *refusal) {
		g, _ := readGrabbed(data)
		c.open.Add(-1)
		c.outcome(u, p, g, failed, now.Sub(due))
		answered()
	}})
}

// outcome records the answer to a grab.
func (c *group) outcome(u *user, p *packetLog, g grabbed, failed *refusal, took time.Duration) {
	switch {
	case failed != nil:
		c.checks.fault(checkAnswered, "%s: grab: %s", u.id, failed.word)
		return
	case g.outcome == "won":
		c.runStats.won.note(took)
	default:
		c.runStats.notWon.note(took)
	}
	p.record(u.id, g, c.checks)
}

// sendPackets funds the senders and sends the packets that the plan needs.
func (c *group) sendPackets(ctx context.Context) error {
	total := int64(shareOnAverage * c.plan.Shares)
	c.packetLogs = make([]*packetLog, c.plan.packets())
	purses := map[*user]int64{}
	for i := range c.packetLogs {
		purses[c.sender(i)] += total
	}
	err := each(ctx, slices.Collect(maps.Keys(purses)), func(ctx context.Context, _ int, u *user) error {
		return c.target.credit(ctx, u.id, purses[u], c.key("credit", u.number))
	})
	if err != nil {
		return err
	}
	count, ttl := c.plan.Shares, packetTTL
	return each(ctx, c.packetLogs, func(ctx context.Context, i int, _ *packetLog) error {
		var made wire.SendPacketReply
		u := c.sender(i)
		err := c.target.command(ctx, u, "send_packet", wire.SendPacketRequest{
			Room: c.rooms[i%len(c.rooms)].id, Key: c.key("packet", i), Total: total, Count: &count, TTLS: &ttl,
		}, &made)
		c.packetLogs[i] = newPacketLog(made.Packet.ID, u, total, count)
		return err
	})
}

// sender returns the sender of a packet, a member of its room.
func (c *group) sender(packet int) *user {
	return c.member(packet, packet/len(c.rooms)%min(c.grabbers(), max(1, richUsers/len(c.rooms))))
}

// grabbers returns the number of users that may grab each packet.
func (c *group) grabbers() int { return len(c.users) / len(c.rooms) }

// member returns the n-th member of the packet's room.
func (c *group) member(packet, number int) *user {
	return c.users[number*len(c.rooms)+packet%len(c.rooms)]
}

// packetLog is one packet of the load, with the shares that its winners were answered.
type packetLog struct {
	id      string
	request []byte // the grab request
	owner   *user
	total   int64
	count   int

	mu      sync.Mutex
	winners map[string]share // guarded by mu: by user
	ranks   []string         // guarded by mu; by rank: the user that has this share; empty: none yet
	given   int              // guarded by mu; number of shares that a user has
}

// share is the share of a winner, as answered or as stored.
type share struct {
	amount int64
	rank   int
}

func newPacketLog(id string, owner *user, total int64, count int) *packetLog {
	return &packetLog{id: id, request: []byte(`{"packet":"` + id + `"}`), owner: owner, total: total, count: count}
}

// record records the share in an answer, if it has one, and checks that the answer does not contradict earlier ones.
func (p *packetLog) record(user string, g grabbed, c *checks) {
	switch g.outcome {
	case "won", "already":
		if fault := p.give(user, share{g.amount, g.rank}); fault != "" {
			c.fault(checkShare, "packet %s: %s", p.id, fault)
		}
	case "empty":
		if g.claimed < p.count {
			c.fault(checkLeft, "packet %s: %s got empty after %d of %d shares", p.id, user, g.claimed, p.count)
		}
	case "expired":
		c.fault(checkLeft, "packet %s: %s got expired long before the deadline", p.id, user)
	}
}

// drained reports whether every share has a user, by the answers so far.
func (p *packetLog) drained() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given == p.count
}

// give records a share and returns a fault, if there is one.
func (p *packetLog) give(user string, s share) (fault string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.winners == nil {
		p.winners, p.ranks = make(map[string]share, p.count), make([]string, p.count+1)
	}
	before, has := p.winners[user]
	switch {
	case has && before == s:
		return ""
	case has:
		return fmt.Sprintf("%s has %+v, and now %+v", user, before, s)
	case s.rank < 1 || s.rank > p.count || s.amount < 1:
		return fmt.Sprintf("%s has share %d of %d, of %d", user, s.rank, p.count, s.amount)
	case p.ranks[s.rank] != "":
		return fmt.Sprintf("%s and %s both have share %d", p.ranks[s.rank], user, s.rank)
	}
	p.winners[user], p.ranks[s.rank] = s, user
	p.given++
	return ""
}

// add compares the answers with the stored claims. Both must have the same winners and shares, and a drained packet
// must be paid out completely. If some grabs were never answered, SQL may have more claims than were answered.
func (p *packetLog) add(stored map[string]share, drained, answered bool, c *checks) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum int64
	for user, s := range stored {
		sum += s.amount
		if record, ok := p.winners[user]; record != s && (ok || answered) {
			c.fault(checkSums, "packet %s: %s got the answer %+v, %+v is stored", p.id, user, record, s)
		}
	}
	for user, s := range p.winners {
		if _, ok := stored[user]; !ok {
			c.fault(checkSums, "packet %s: %s got the answer %+v, nothing is stored", p.id, user, s)
		}
	}
	switch {
	case len(stored) > p.count || sum > p.total:
		c.fault(checkSums, "packet %s: %d shares with a sum of %d are stored, it has %d with a sum of %d", p.id, len(stored), sum, p.count, p.total)
	case drained && (len(stored) != p.count || sum != p.total):
		c.fault(checkSums, "packet %s: drained with %d shares and a sum of %d, it had %d and %d", p.id, len(stored), sum, p.count, p.total)
	}
}

// Finished drains a packet that has shares for half of the users, and returns a repeater for each user. A user that has a share gets
// "already" for each further grab, any other user gets "empty".
func Finished(ctx context.Context, t *Target, users int) (already, empty []*Repeater, err error) {
	c, err := newGroup(t, Plan{Scenario: "grab", Users: users, Packets: 1, Shares: users / 2, Closed: true})
	if err != nil {
		return nil, nil, err
	}
	if err := (grab{}).prepare(ctx, c); err != nil {
		return nil, nil, err
	}
	for _, u := range c.users {
		a, err := c.repeater(ctx, u)
		if err != nil {
			return already, empty, err
		}
		g, err := a.ask()
		if err != nil {
			return already, empty, err
		}
		a.answer = nil // the first answer differs from the later ones
		switch g.outcome {
		case "won":
			a.want, already = "already", append(already, a)
		case "empty":
			a.want, empty = "empty", append(empty, a)
		default:
			return already, empty, fmt.Errorf("the outcome of a first grab is %q", g.outcome)
		}
	}
	return already, empty, c.drained(ctx, c.packetLogs[0])
}

// repeater connects a user and returns its repeater, which grabs the first packet.
func (c *group) repeater(ctx context.Context, u *user) (*Repeater, error) {
	s, err := dial(ctx, c.target.socketURL(u.number))
	if err != nil {
		return nil, err
	}
	if err := u.sendConnect(s); err != nil {
		return nil, err
	}
	for in := false; !in && err == nil; {
		err = s.receive(func(text []byte, _ time.Time) error {
			var l message
			in = in || l.read(text) && l.kind == reply && l.id == 1
			return nil
		})
	}
	request := fmt.Appendf(nil, `{"id":%d,"rpc":{"method":"grab","data":{"packet":%q}}}`, repeaterID, c.packetLogs[0].id)
	return &Repeater{socket: s, request: framed(request)}, err
}

// Repeater is a socket that sends one grab again and again, each time after the answer to the last one.
type Repeater struct {
	socket  *socket
	request []byte  // a frame
	want    string  // the outcome that every answer must have
	answer  []byte  // the last answer
	decoded grabbed // the last answer, decoded
	message message
}

const repeaterID = 7

// Repeat lets every repeater grab at least once and until the time budget is used up. It returns the number of
// answers, and stops at the first unexpected answer.
func Repeat(ctx context.Context, repeaters []*Repeater, budget time.Duration) (answers int, took time.Duration, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var sum atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for _, a := range repeaters {
		all.Go(func() {
			mine := int64(0)
			for ctx.Err() == nil && (mine == 0 || time.Since(begin) < budget) {
				g, err := a.ask()
				if err == nil && g.outcome != a.want {
					err = fmt.Errorf("answered %+v, not %s", g, a.want)
				}
				if err != nil {
					stop(err)
					break
				}
				mine++
			}
			sum.Add(mine)
		})
	}
	all.Wait()
	return int(sum.Load()), time.Since(begin), context.Cause(ctx)
}

// ask sends one grab and waits for the answer. An answer with the same bytes as the last one is not decoded again.
func (a *Repeater) ask() (g grabbed, err error) {
	if err := a.socket.write(a.request); err != nil {
		return g, err
	}
	for answered := false; !answered && err == nil; {
		err = a.socket.receive(func(text []byte, _ time.Time) (err error) {
			now := bytes.Equal(text, a.answer)
			if !now {
				now, err = a.receive(text)
			}
			answered = answered || now // other messages may follow the answer
			return err
		})
	}
	return a.decoded, err
}

// receive handles a message, which may be the answer.
func (a *Repeater) receive(text []byte) (answer bool, err error) {
	l := &a.message
	switch ok := l.read(text); {
	case !ok:
		return false, fmt.Errorf("not a message: %.200q", text)
	case l.kind == ping:
		return false, a.socket.pong()
	case l.kind == refused:
		return false, fmt.Errorf("refused: %s", l.refusal.word)
	case l.kind != reply || l.id != repeaterID:
		return false, nil
	}
	g, ok := readGrabbed(l.data)
	if !ok {
		return false, fmt.Errorf("not an answer to a grab: %s", l.data)
	}
	a.answer, a.decoded = bytes.Clone(text), g
	return true, nil
}

// Close closes the socket.
func (a *Repeater) Close() error { a.socket.close(); return nil }

// EchoRepeaters returns a repeater at an echo server for each given one. Its request has the same bytes as the answers
// that the given one gets.
func EchoRepeaters(ctx context.Context, url string, like []*Repeater) (all []*Repeater, err error) {
	for _, a := range like {
		s, err := dial(ctx, url)
		if err != nil {
			return all, err
		}
		all = append(all, &Repeater{socket: s, request: framed(a.answer), want: a.want})
	}
	return all, nil
}
