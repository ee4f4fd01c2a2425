package redisstore

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
)

const (
	// presenceWait is the longest that one call may wait for a slow Redis.
	presenceWait = time.Second
	// presencePipe is the most users in one pipeline.
	presencePipe = 200
	// presenceCall is the most users in one script call, so that no call keeps Redis busy for long.
	presenceCall = 50
)

//go:embed presence_enter.lua
var presenceEnterText string

//go:embed presence_leave.lua
var presenceLeaveText string

var (
	presenceEnter = newScript(presenceEnterText)
	presenceLeave = newScript(presenceLeaveText)
)

// presenceOptions are the options of a presence.
type presenceOptions struct {
	Lease time.Duration // how long a socket counts after it was renewed; default chat.PresenceLease
	Log   *slog.Logger  // default: none
}

// presence implements chat.Presence with one key for each user. The key expires if no instance renews it.
//
// Each instance remembers its own sockets and renews all of them three times in each lease (Run). So sockets that Redis
// loses come back with their original start. Three rules follow:
//
//   - A socket is remembered even if Enter failed. It is entered when Redis is back.
//   - Another instance may remove a socket because its user has too many. The renewal enters it again until its own
//     instance drops it.
//   - Leave must be called for each socket, whatever Enter returned.
type presence struct {
	client redis.UniversalClient
	lease  time.Duration
	log    *slog.Logger
	local  *registry
}

var _ chat.Presence = (*presence)(nil)

// newPresence returns the presence of one instance. The client must end each call when its context ends
// (ContextTimeoutEnabled).
func newPresence(client redis.UniversalClient, o presenceOptions) *presence {
	return &presence{
		client: client,
		lease:  cmp.Or(o.Lease, chat.PresenceLease),
		log:    cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		local:  newRegistry(),
	}
}

// userKey returns the key of a user's sockets.
func userKey(user string) string { return "on:" + user }

// Enter implements chat.Presence.
func (p *presence) Enter(ctx context.Context, user, socket string, most int) (out []string, first bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, presenceWait)
	defer cancel()
	s := p.local.add(user, socket)
	users := []localUser{{user, []localSocket{s}}}
	enter := p.enterCall(users, most)
	send(ctx, p.client, []*call{enter})
	replies, err := readEntered(enter.cmd, users)
	if err != nil {
		p.local.enterFailed(user, socket)
		return nil, false, unavailable("enter a socket", err)
	}
	reply := replies[0]
	p.local.setSince(user, users[0].sockets, reply.sinces)
	for _, socket := range reply.out {
		p.local.drop(user, socket)
	}
	return reply.out, reply.first, nil
}

// Leave implements chat.Presence.
func (p *presence) Leave(ctx context.Context, user, socket string) (last bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, presenceWait)
	defer cancel()
	p.local.drop(user, socket)
	leave := p.leaveCall(user, []localSocket{{socket: socket}})
	send(ctx, p.client, []*call{leave})
	if last, err = leave.cmd.Bool(); err != nil {
		return false, unavailable("forget a socket", err)
	}
	return last, nil
}

// Online implements chat.Presence.
func (p *presence) Online(ctx context.Context, users []string) ([]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, presenceWait)
	defer cancel()
	online := make([]bool, 0, len(users))
	for some := range slices.Chunk(users, presencePipe) {
		pipe := p.client.Pipeline()
		for _, user := range some {
			pipe.Exists(ctx, userKey(user))
		}
		replies, err := pipe.Exec(ctx)
		if err != nil {
			return nil, unavailable("read who is online", err)
		}
		for _, reply := range replies {
			online = append(online, reply.(*redis.IntCmd).Val() > 0)
		}
	}
	return online, nil
}

// enterCall returns a call of presence_enter.lua for all sockets of these users. most is the limit of sockets of a
// user.
func (p *presence) enterCall(users []localUser, most int) *call {
	c := newCall(presenceEnter, len(users), 2+3*len(users))
	for _, u := range users {
		c.add(userKey(u.user))
	}
	c.add(p.lease.Milliseconds(), most)
	for _, u := range users {
		c.add(len(u.sockets))
		for _, s := range u.sockets {
			c.add(s.socket)
			if s.since == 0 {
				c.add("")
			} else {
				c.add(s.since)
			}
		}
	}
	return c
}

// leaveCall returns a call of presence_leave.lua.
func (p *presence) leaveCall(user string, sockets []localSocket) *call {
	c := newCall(presenceLeave, 1, len(sockets))
	c.add(userKey(user))
	for _, s := range sockets {
		c.add(s.socket)
	}
	return c
}

// entered is the reply of presence_enter.lua for one user: starts of the sockets, sockets to close, and whether the
// user had none before.
type entered struct {
	sinces []int64
	out    []string
	first  bool
}

// readEntered decodes the replies for these users. If some parts failed, it returns an error of one of them; the other replies are
// valid. An empty reply means that the part failed, or that nothing has changed.
func readEntered(cmd *redis.Cmd, users []localUser) ([]entered, error) {
	replies := make([]entered, len(users))
	answers, err := cmd.Slice()
	if err == nil && len(answers) != len(users) {
		err = fmt.Errorf("unexpected reply: %v", answers)
	}
	if err != nil {
		return replies, err
	}
	var failed error
	for i, answer := range answers {
		if replies[i], err = readUser(answer); err != nil {
			failed = err
		}
	}
	return replies, failed
}

func readUser(answer any) (n entered, err error) {
	if answer == int64(0) { // all starts are as this instance remembers them
		return entered{}, nil
	}
	if err, ok := answer.(error); ok {
		return entered{}, err
	}
	parts, ok := answer.([]any)
	if !ok || len(parts) != 3 {
		return entered{}, fmt.Errorf("unexpected reply: %v", answer)
	}
	all := reader{items: parts}
	sinces, out := reader{items: all.list()}, reader{items: all.list()}
	n.first = all.int() == 1
	for sinces.more() {
		n.sinces = append(n.sinces, int64(sinces.int()))
	}
	for out.more() {
		n.out = append(n.out, out.text())
	}
	if err := errors.Join(all.err, sinces.err, out.err); err != nil {
		return entered{}, err
	}
	return n, nil
}

const (
	// presenceRounds is how often each socket is renewed in a lease.
	presenceRounds = 3
	// presenceStopTimeout bounds the removal of all sockets when an instance stops. Sockets that remain expire with
	// their lease.
	presenceStopTimeout = 3 * time.Second
)

// Run implements chat.Presence. It renews one slot after the other; each holds the sockets of a hundredth of the
// users. After an outage it catches up at five times the usual pace. When ctx ends, it removes all sockets of this
// instance from Redis.
func (p *presence) Run(ctx context.Context) error {
	round := p.lease / presenceRounds
	pace := round / presenceSlots
	var h health
	// Slots are renewed concurrently. So while one node of a cluster is silent, the sockets on the other nodes are
	// still renewed in time.
	slots := make(chan struct{}, presenceSlots)
	var renewals sync.WaitGroup
	timer := time.NewTimer(0)
	defer timer.Stop()
	next := time.Now()
	for slot := 0; ctx.Err() == nil; slot = (slot + 1) % presenceSlots {
		next = latest(next.Add(pace), time.Now().Add(-round))
		timer.Reset(max(time.Until(next), pace/5))
		select {
		case <-ctx.Done():
			continue
		case <-timer.C:
		}
		select {
		case <-ctx.Done():
			continue
		case slots <- struct{}{}:
		}
		renewals.Go(func() {
			if users := p.local.users(slot); len(users) > 0 { // without users no call is made that could show whether Redis works
				h.record(p, p.renew(ctx, users))
			}
			<-slots
		})
	}
	renewals.Wait()
	p.forgetAll(context.WithoutCancel(ctx))
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// renew renews the sockets of these users.
func (p *presence) renew(ctx context.Context, users []localUser) error {
	var failed error
	for some := range slices.Chunk(users, presencePipe) {
		failed = errors.Join(failed, p.renewSome(ctx, some))
	}
	return failed
}

func (p *presence) renewSome(ctx context.Context, users []localUser) error {
	ctx, cancel := context.WithTimeout(ctx, presenceWait)
	defer cancel()
	together := presenceCall
	if (nodes{client: p.client}).sharded() {
		together = 1
	}
	calls := make([]*call, 0, 1+len(users)/together)
	for some := range slices.Chunk(users, together) {
		calls = append(calls, p.enterCall(some, 0))
	}
	send(ctx, p.client, calls)
	var failed error
	for i, c := range calls {
		some := users[i*together : min((i+1)*together, len(users))]
		replies, err := readEntered(c.cmd, some)
		if err != nil {
			failed = err
		}
		for n, u := range some {
			p.local.setSince(u.user, u.sockets, replies[n].sinces)
		}
	}
	return errors.Join(failed, p.forgetLeft(ctx, users))
}

// forgetLeft removes from Redis the sockets whose Leave came while they were renewed: the renewal may have entered
// them again.
func (p *presence) forgetLeft(ctx context.Context, users []localUser) error {
	var leavers []localUser
	for _, u := range users {
		if sockets := p.local.left(u); len(sockets) > 0 {
			leavers = append(leavers, localUser{u.user, sockets})
		}
	}
	return p.forget(ctx, leavers)
}

func (p *presence) forget(ctx context.Context, users []localUser) (failed error) {
	if len(users) == 0 {
		return nil
	}
	calls := make([]*call, len(users))
	for i, u := range users {
		calls[i] = p.leaveCall(u.user, u.sockets)
	}
	send(ctx, p.client, calls)
	for _, c := range calls {
		if err := c.err(); err != nil {
			failed = err
		}
	}
	return failed
}

// forgetAll removes all sockets of this instance from Redis.
func (p *presence) forgetAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, presenceStopTimeout)
	defer cancel()
	for slot := range presenceSlots {
		for users := range slices.Chunk(p.local.users(slot), presencePipe) {
			if err := p.forget(ctx, users); err != nil {
				p.log.Warn("sockets of this instance not removed; they count until their lease ends", "err", err)
				return
			}
		}
	}
}

// health remembers whether the last renewal failed, so that an outage is logged once.
type health struct{ bad atomic.Bool }

func (h *health) record(p *presence, err error) {
	switch {
	case err != nil && !errors.Is(err, context.Canceled) && !h.bad.Swap(true):
		p.log.Warn("presence is not renewed", "err", err)
	case err == nil && h.bad.Swap(false):
		p.log.Info("presence renewed again")
	}
}
