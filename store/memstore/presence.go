package memstore

import (
	"context"
	"slices"
	"sync"

	"hongbao/chat"
)

// Directory is where the sockets of one process are noted. Several of its presences behave like as many instances.
type Directory struct {
	mu    sync.Mutex
	users map[string][]noted // a user's sockets, the oldest first; never an empty list
}

// noted is a socket, and who noted it.
type noted struct {
	socket string
	by     *presence
}

// NewDirectory makes an empty directory.
func NewDirectory() *Directory {
	return &Directory{users: map[string][]noted{}}
}

// Presence makes one instance's view of the directory.
func (d *Directory) Presence() chat.Presence { return &presence{directory: d} }

// presence implements chat.Presence. It needs no lease: it dies with its directory.
type presence struct{ directory *Directory }

// Enter implements chat.Presence.
func (p *presence) Enter(_ context.Context, user, socket string, most int) (out []string, first bool, err error) {
	d := p.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	sockets := d.users[user]
	first = len(sockets) == 0
	if !slices.ContainsFunc(sockets, func(n noted) bool { return n.socket == socket }) {
		sockets = append(sockets, noted{socket, p})
	}
	over := max(0, len(sockets)-most)
	for _, n := range sockets[:over] {
		out = append(out, n.socket)
	}
	d.set(user, slices.Delete(sockets, 0, over))
	return out, first, nil
}

// Leave implements chat.Presence.
func (p *presence) Leave(_ context.Context, user, socket string) (last bool, err error) {
	return p.directory.forget(user, func(n noted) bool { return n.socket == socket }), nil
}

// Online implements chat.Presence.
func (p *presence) Online(_ context.Context, users []string) ([]bool, error) {
	d := p.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	online := make([]bool, len(users))
	for i, user := range users {
		online[i] = len(d.users[user]) > 0
	}
	return online, nil
}

// Run implements chat.Presence.
func (p *presence) Run(ctx context.Context) error {
	<-ctx.Done()
	p.directory.forgetAll(p)
	return nil
}

// forget tells whether the user had such sockets, and no others.
func (d *Directory) forget(user string, gone func(noted) bool) (last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	had := len(d.users[user]) > 0
	d.set(user, slices.DeleteFunc(d.users[user], gone))
	return had && len(d.users[user]) == 0
}

func (d *Directory) forgetAll(by *presence) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for user, sockets := range d.users {
		d.set(user, slices.DeleteFunc(sockets, func(n noted) bool { return n.by == by }))
	}
}

// set keeps a user's sockets, and nothing of one who has none.
func (d *Directory) set(user string, sockets []noted) {
	if len(sockets) == 0 {
		delete(d.users, user)
		return
	}
	d.users[user] = sockets
}
