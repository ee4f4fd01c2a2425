package memstore

import (
	"context"
	"slices"
	"sync"

	"hongbao/chat"
)

// Directory holds the sockets of all users in one process. Each Presence of it acts as one instance.
type Directory struct {
	mu    sync.Mutex
	users map[string][]entered // a user's sockets, oldest first; never an empty list
}

// entered is a socket, and the presence through which it entered.
type entered struct {
	socket string
	owner  *presence
}

// NewDirectory returns an empty directory.
func NewDirectory() *Directory {
	return &Directory{users: map[string][]entered{}}
}

// Presence returns one instance's view of the directory.
func (d *Directory) Presence() chat.Presence { return &presence{directory: d} }

// presence implements chat.Presence. It needs no lease, because it dies together with its directory.
type presence struct{ directory *Directory }

// Enter implements chat.Presence.
func (p *presence) Enter(_ context.Context, user, socket string, most int) (out []string, first bool, err error) {
	d := p.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	sockets := d.users[user]
	first = len(sockets) == 0
	if !slices.ContainsFunc(sockets, func(n entered) bool { return n.socket == socket }) {
		sockets = append(sockets, entered{socket, p})
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
	return p.directory.forget(user, func(n entered) bool { return n.socket == socket }), nil
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

// forget removes the user's sockets for which gone is true. It reports whether the user had sockets and now has none.
func (d *Directory) forget(user string, gone func(entered) bool) (last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	had := len(d.users[user]) > 0
	d.set(user, slices.DeleteFunc(d.users[user], gone))
	return had && len(d.users[user]) == 0
}

func (d *Directory) forgetAll(owner *presence) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for user, sockets := range d.users {
		d.set(user, slices.DeleteFunc(sockets, func(n entered) bool { return n.owner == owner }))
	}
}

// set stores a user's sockets, or nothing if there are none.
func (d *Directory) set(user string, sockets []entered) {
	if len(sockets) == 0 {
		delete(d.users, user)
		return
	}
	d.users[user] = sockets
}
