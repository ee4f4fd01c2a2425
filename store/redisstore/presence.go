package redisstore

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
)

const (
	// presenceWait bounds a call: a socket that opens or closes does not wait longer for Redis.
	presenceWait = time.Second
	// presencePipe is how many users one pipeline is about.
	presencePipe = 200
	// presenceCall is how many users one call is about: so Redis is not busy with it for long.
	presenceCall = 50
)

//go:embed presence_note.lua
var presenceNoteText string

//go:embed presence_leave.lua
var presenceLeaveText string

var (
	presenceNote  = newScript(presenceNoteText)
	presenceLeave = newScript(presenceLeaveText)
)

// presenceOptions of a presence.
type presenceOptions struct {
	Lease time.Duration // how long a socket counts after it was noted; default chat.PresenceLease
	Log   *slog.Logger  // default: none
}

// presence is a chat.Presence over one key a user, which ends by itself when nobody renews it.
//
// The instance remembers its own sockets and notes them all again three times a lease (Run), so that what Redis
// loses comes back with its old age. Hence a socket is remembered even if Enter failed: it is there, and is noted
// when Redis is. And one that another instance pushed out is noted again until its own instance lets it go.
// Leave is due for each socket, whatever Enter said.
type presence struct {
	client redis.UniversalClient
	lease  time.Duration
	log    *slog.Logger
	local  *register
}

var _ chat.Presence = (*presence)(nil)

// newPresence makes the presence of one instance. The client's calls must end with their context
// (ContextTimeoutEnabled).
func newPresence(client redis.UniversalClient, o presenceOptions) *presence {
	return &presence{
		client: client,
		lease:  cmp.Or(o.Lease, chat.PresenceLease),
		log:    cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		local:  newRegister(),
	}
}

// userKey is the key of a user's sockets.
func userKey(user string) string { return "on:" + user }

// Enter implements chat.Presence.
func (p *presence) Enter(ctx context.Context, user, socket string, most int) (out []string, first bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, presenceWait)
	defer cancel()
	s := p.local.add(user, socket)
	users := []localUser{{user, []localSocket{s}}}
	note := p.note(users, most)
	send(ctx, p.client, []*call{note})
	replies, err := readNoted(note.cmd, users)
	if err != nil {
		p.local.keep(user, socket)
		return nil, false, unavailable("note a socket", err)
	}
	reply := replies[0]
	p.local.learn(user, users[0].sockets, reply.sinces)
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
	leave := p.leave(user, []localSocket{{socket: socket}})
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
			return nil, unavailable("ask who is online", err)
		}
		for _, reply := range replies {
			online = append(online, reply.(*redis.IntCmd).Val() > 0)
		}
	}
	return online, nil
}

// note is a call of presence_note.lua.
func (p *presence) note(users []localUser, most int) *call {
	c := newCall(presenceNote, len(users), 2+3*len(users))
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

// leave is a call of presence_leave.lua.
func (p *presence) leave(user string, sockets []localSocket) *call {
	c := newCall(presenceLeave, 1, len(sockets))
	c.add(userKey(user))
	for _, s := range sockets {
		c.add(s.socket)
	}
	return c
}

// noted is the reply of presence_note.lua about a user.
type noted struct {
	sinces []int64
	out    []string
	first  bool
}

// readNoted gives the replies about these users; nothing is noted of those of whom the error is.
func readNoted(cmd *redis.Cmd, users []localUser) ([]noted, error) {
	replies := make([]noted, len(users))
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

func readUser(answer any) (n noted, err error) {
	if answer == int64(0) { // all is as remembered
		return noted{}, nil
	}
	if err, ok := answer.(error); ok {
		return noted{}, err
	}
	parts, ok := answer.([]any)
	if !ok || len(parts) != 3 {
		return noted{}, fmt.Errorf("unexpected reply: %v", answer)
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
		return noted{}, err
	}
	return n, nil
}
