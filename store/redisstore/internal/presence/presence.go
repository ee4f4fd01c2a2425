package presence

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/store/redisstore/internal/nodes"
)

const (
	// callTimeout is the longest that one call may wait for a slow Redis.
	callTimeout = time.Second
	// pipeLen is the most users in one pipeline.
	pipeLen = 200
	// callLen is the most users in one script call, so that no call keeps Redis busy for long.
	callLen = 50
)

//go:embed enter.lua
var enterText string

//go:embed leave.lua
var leaveText string

var (
	enterScript = nodes.NewScript(enterText)
	leaveScript = nodes.NewScript(leaveText)
)

// Options are the options of a Presence.
type Options struct {
	Lease time.Duration // how long a socket counts after it was renewed; default chat.PresenceLease
	Log   *slog.Logger  // default: none
}

// Presence implements chat.Presence with one key for each user. The key expires if no instance renews it.
//
// Each instance remembers its own sockets and renews all of them three times in each lease (Run). So sockets that Redis
// loses come back with their original start. Three rules follow:
//
//   - A socket is remembered even if Enter failed. It is entered when Redis is back.
//   - Another instance may remove a socket because the user has too many. The socket's own instance enters the socket
//     again at each renewal, until it drops the socket.
//   - Leave must be called for each socket, whatever Enter returned.
type Presence struct {
	client redis.UniversalClient
	lease  time.Duration
	log    *slog.Logger
	local  *registry

	callTimeout time.Duration
}

var _ chat.Presence = (*Presence)(nil)

// New returns the presence of one instance. The client must end each call when its context ends
// (ContextTimeoutEnabled).
func New(client redis.UniversalClient, o Options) *Presence {
	return &Presence{
		client: client,
		lease:  cmp.Or(o.Lease, chat.PresenceLease),
		log:    cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		local:  newRegistry(),

		callTimeout: callTimeout,
	}
}

// userKey returns the key of a user's sockets.
func userKey(user string) string { return "on:" + user }

// Enter implements chat.Presence.
func (p *Presence) Enter(ctx context.Context, user, socket string, most int) (out []string, first bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	s := p.local.add(user, socket)
	users := []localUser{{user, []localSocket{s}}}
	enter := p.enterCall(users, most)
	nodes.Send(ctx, p.client, []*nodes.Call{enter})
	replies, err := readEntered(enter.Cmd, users)
	if err != nil {
		p.local.enterFailed(user, socket)
		return nil, false, nodes.Unavailable("enter a socket", err)
	}
	reply := replies[0]
	p.local.setSince(user, users[0].sockets, reply.sinces)
	for _, socket := range reply.out {
		p.local.drop(user, socket)
	}
	return reply.out, reply.first, nil
}

// Leave implements chat.Presence.
func (p *Presence) Leave(ctx context.Context, user, socket string) (last bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	p.local.drop(user, socket)
	leave := p.leaveCall(user, []localSocket{{socket: socket}})
	nodes.Send(ctx, p.client, []*nodes.Call{leave})
	if last, err = leave.Cmd.Bool(); err != nil {
		return false, nodes.Unavailable("forget a socket", err)
	}
	return last, nil
}

// Online implements chat.Presence.
func (p *Presence) Online(ctx context.Context, users []string) ([]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	online := make([]bool, 0, len(users))
	for some := range slices.Chunk(users, pipeLen) {
		pipe := p.client.Pipeline()
		for _, user := range some {
			pipe.Exists(ctx, userKey(user))
		}
		replies, err := pipe.Exec(ctx)
		if err != nil {
			return nil, nodes.Unavailable("read who is online", err)
		}
		for _, reply := range replies {
			online = append(online, reply.(*redis.IntCmd).Val() > 0)
		}
	}
	return online, nil
}

// enterCall returns a call of enter.lua for the sockets that are listed with each user. most is the limit of sockets of a user
// over all instances; 0: no limit.
func (p *Presence) enterCall(users []localUser, most int) *nodes.Call {
	c := nodes.NewCall(enterScript, len(users), 2+3*len(users))
	for _, u := range users {
		c.Add(userKey(u.user))
	}
	c.Add(p.lease.Milliseconds(), most)
	for _, u := range users {
		c.Add(len(u.sockets))
		for _, s := range u.sockets {
			c.Add(s.socket)
			if s.since == 0 {
				c.Add("")
			} else {
				c.Add(s.since)
			}
		}
	}
	return &c
}

// leaveCall returns a call of leave.lua.
func (p *Presence) leaveCall(user string, sockets []localSocket) *nodes.Call {
	c := nodes.NewCall(leaveScript, 1, len(sockets))
	c.Add(userKey(user))
	for _, s := range sockets {
		c.Add(s.socket)
	}
	return &c
}

// entered is the reply of enter.lua for one user: starts of the sockets, sockets to close, and whether the user had no
// socket before.
type entered struct {
	sinces []int64
	out    []string
	first  bool
}

// readEntered decodes the replies for these users. If the replies of some users are errors, it returns one of these
// errors; the replies of the other users are valid. An empty reply means that the user's reply was an error, or that
// nothing has changed.
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
	if answer == int64(0) { // the call had no limit of sockets, and this instance knows the starts of all these sockets
		return entered{}, nil
	}
	if err, ok := answer.(error); ok {
		return entered{}, err
	}
	parts, ok := answer.([]any)
	if !ok || len(parts) != 3 {
		return entered{}, fmt.Errorf("unexpected reply: %v", answer)
	}
	all := nodes.Reader{Items: parts}
	sinces, out := nodes.Reader{Items: all.List()}, nodes.Reader{Items: all.List()}
	n.first = all.Int() == 1
	for sinces.More() {
		n.sinces = append(n.sinces, int64(sinces.Int()))
	}
	for out.More() {
		n.out = append(n.out, out.Text())
	}
	if err := errors.Join(all.Err, sinces.Err, out.Err); err != nil {
		return entered{}, err
	}
	return n, nil
}

const (
	// rounds is how often each socket is renewed in a lease.
	rounds = 3
	// stopTimeout bounds the removal of all sockets when an instance stops. Sockets that remain expire with
	// their lease.
	stopTimeout = 3 * time.Second
)

// Run implements chat.Presence. It starts the renewal of one slot after the other; each slot holds the sockets of about a
// hundredth of the users. After an outage it catches up at five times the usual pace. When ctx ends, it removes the sockets of
// this instance from Redis.
func (p *Presence) Run(ctx context.Context) error {
	round := p.lease / rounds
	pace := round / slotCount
	var h health
	// Slots are renewed concurrently. So while one node of a cluster is silent, the sockets on the other nodes are
	// still renewed in time.
	slots := make(chan struct{}, slotCount)
	var renewals sync.WaitGroup
	timer := time.NewTimer(0)
	defer timer.Stop()
	next := time.Now()
	for slot := 0; ctx.Err() == nil; slot = (slot + 1) % slotCount {
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
func (p *Presence) renew(ctx context.Context, users []localUser) error {
	var failed error
	for some := range slices.Chunk(users, pipeLen) {
		failed = errors.Join(failed, p.renewSome(ctx, some))
	}
	return failed
}

func (p *Presence) renewSome(ctx context.Context, users []localUser) error {
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	together := callLen
	if nodes.Sharded(p.client) {
		together = 1
	}
	calls := make([]*nodes.Call, 0, 1+len(users)/together)
	for some := range slices.Chunk(users, together) {
		calls = append(calls, p.enterCall(some, 0))
	}
	nodes.Send(ctx, p.client, calls)
	var failed error
	for i, c := range calls {
		some := users[i*together : min((i+1)*together, len(users))]
		replies, err := readEntered(c.Cmd, some)
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
func (p *Presence) forgetLeft(ctx context.Context, users []localUser) error {
	var leavers []localUser
	for _, u := range users {
		if sockets := p.local.left(u); len(sockets) > 0 {
			leavers = append(leavers, localUser{u.user, sockets})
		}
	}
	return p.forget(ctx, leavers)
}

func (p *Presence) forget(ctx context.Context, users []localUser) (failed error) {
	if len(users) == 0 {
		return nil
	}
	calls := make([]*nodes.Call, len(users))
	for i, u := range users {
		calls[i] = p.leaveCall(u.user, u.sockets)
	}
	nodes.Send(ctx, p.client, calls)
	for _, c := range calls {
		if err := c.Err(); err != nil {
			failed = err
		}
	}
	return failed
}

// forgetAll removes all sockets of this instance from Redis.
func (p *Presence) forgetAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for slot := range slotCount {
		for users := range slices.Chunk(p.local.users(slot), pipeLen) {
			if err := p.forget(ctx, users); err != nil {
				p.log.Warn("sockets of this instance not removed; they count until their lease ends", "err", err)
				return
			}
		}
	}
}

// health remembers whether the last renewal failed, so that an outage is logged once.
type health struct{ bad atomic.Bool }

func (h *health) record(p *Presence, err error) {
	switch {
	case err != nil && !errors.Is(err, context.Canceled) && !h.bad.Swap(true):
		p.log.Warn("presence is not renewed", "err", err)
	case err == nil && h.bad.Swap(false):
		p.log.Info("presence renewed again")
	}
}

// slotCount is the number of slots of a registry. Renewing them one after the other keeps the load even.
const slotCount = 100

// registry holds the sockets of this instance in memory. A hash of the user chooses the slot.
type registry struct {
	seed maphash.Seed

	mu    sync.Mutex
	slots [slotCount]map[string][]localSocket // by user, oldest first; never an empty list
}

// localSocket is a socket of this instance.
type localSocket struct {
	socket   string
	since    int64 // start time that Redis returned; 0: not known yet
	entering bool  // its Enter is under way; until Enter ends, no renewal may enter or remove the socket
}

// localUser is a user with sockets on this instance.
type localUser struct {
	user    string
	sockets []localSocket
}

func newRegistry() *registry {
	r := &registry{seed: maphash.MakeSeed()}
	for i := range r.slots {
		r.slots[i] = map[string][]localSocket{}
	}
	return r
}

func (r *registry) slot(user string) map[string][]localSocket {
	return r.slots[maphash.String(r.seed, user)%slotCount]
}

// add returns the socket as this instance remembers it. It adds an unknown socket, marked as entering.
func (r *registry) add(user, socket string) localSocket {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := r.slot(user)
	if i := find(slot[user], socket); i >= 0 {
		return slot[user][i]
	}
	s := localSocket{socket: socket, entering: true}
	slot[user] = append(slot[user], s)
	return s
}

// setSince records in this instance's memory the start times that Redis returned for the user's sockets, and marks
// them entered. Sockets removed since the call began are skipped.
func (r *registry) setSince(user string, sockets []localSocket, sinces []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.slot(user)[user]
	for n, s := range sockets {
		if i := find(known, s.socket); i >= 0 && n < len(sinces) {
			known[i].since, known[i].entering = sinces[n], false
		}
	}
}

// enterFailed records that the socket's Enter has failed. From now on the renewal tries to enter the socket.
func (r *registry) enterFailed(user, socket string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.slot(user)[user]
	if i := find(known, socket); i >= 0 {
		known[i].entering = false
	}
}

// drop removes a socket from this instance's memory.
func (r *registry) drop(user, socket string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := r.slot(user)
	left := slices.DeleteFunc(slot[user], func(s localSocket) bool { return s.socket == socket })
	if len(left) == 0 {
		delete(slot, user)
		return
	}
	slot[user] = left
}

// users returns the users of a slot, with the sockets whose Enter has ended.
func (r *registry) users(slot int) []localUser {
	r.mu.Lock()
	defer r.mu.Unlock()
	users := make([]localUser, 0, len(r.slots[slot]))
	for user, sockets := range r.slots[slot] {
		entered := slices.DeleteFunc(slices.Clone(sockets), func(s localSocket) bool { return s.entering })
		if len(entered) > 0 {
			users = append(users, localUser{user, entered})
		}
	}
	return users
}

// left returns those of the user's given sockets that drop has removed since.
func (r *registry) left(u localUser) (left []localSocket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.slot(u.user)[u.user]
	for _, s := range u.sockets {
		if find(known, s.socket) < 0 {
			left = append(left, s)
		}
	}
	return left
}

func find(sockets []localSocket, socket string) int {
	return slices.IndexFunc(sockets, func(s localSocket) bool { return s.socket == socket })
}
