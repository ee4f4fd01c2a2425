package trail

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	filterLog  = 16                     // the filter has 2^filterLog slots, 512 KB
	writeEvery = 500 * time.Millisecond // with perRound this is 500 rows a second
	dropEvery  = time.Minute
)

// Recorder writes the refusals and what happens to sockets of one instance. It is safe for concurrent use.
type Recorder struct {
	// static
	now      func() time.Time
	seed     maphash.Seed
	refusals *journal[Refusal]
	sockets  *journal[SocketEvent]

	// seen has, by a part of the hash of user, packet and reason, the hash of the refusal that was queued last. Most repeated refusals end here: they
	// take no lock.
	seen [1 << filterLog]atomic.Uint64
}

// NewRecorder returns a recorder. Rows are written while Run runs.
func NewRecorder(store Store, now func() time.Time, log *slog.Logger) *Recorder {
	return &Recorder{
		now: now, seed: maphash.MakeSeed(),
		refusals: &journal[Refusal]{
			what: "refused grabs", of: func(r Refusal) string { return r.User }, add: store.AddRefusals, drop: store.DropRefusals,
			now: now, log: log, users: map[string]int{},
		},
		sockets: &journal[SocketEvent]{
			what: "events of sockets", of: func(e SocketEvent) string { return e.User }, add: store.AddSockets, drop: store.DropSockets,
			now: now, log: log, users: map[string]int{},
		},
	}
}

// Refused notes that a grab was refused. It never waits for the database. A refusal of the same user, packet and reason, shortly before, is not noted again.
func (r *Recorder) Refused(user, packet, why string) {
	hash := maphash.String(r.seed, user)*31 ^ maphash.String(r.seed, packet)*17
	if len(why) > len("expired") { // an error; the outcomes differ in their length, and are most of all
		hash ^= maphash.String(r.seed, why)
	} else {
		hash += uint64(len(why))
	}
	slot := &r.seen[hash>>(64-filterLog)]
	if slot.Load() == hash {
		return
	}
	slot.Store(hash)
	r.refusals.put(Refusal{User: user, Packet: packet, At: r.now(), Why: why})
}

// SocketOpened notes that a socket of a user was opened. It never waits for the database.
func (r *Recorder) SocketOpened(user, socket string) {
	r.sockets.put(SocketEvent{User: user, Socket: socket, At: r.now(), What: SocketOpened})
}

// SocketEnded notes that a socket of a user has ended. code is the close code that the server has sent; 0: it has sent none. byPeer means that
// the client has closed the socket. It never waits for the database.
func (r *Recorder) SocketEnded(user, socket string, code int, byPeer bool) {
	e := SocketEvent{User: user, Socket: socket, At: r.now(), What: SocketLost}
	switch {
	case byPeer:
		e.What = SocketLeft
	case code != 0:
		e.What, e.Code = SocketClosed, code
	}
	r.sockets.put(e)
}

// Refusals returns how many refusals were written and dropped since the start.
func (r *Recorder) Refusals() (written, dropped int64) { return r.refusals.counts() }

// Sockets returns how many events of sockets were written and dropped since the start.
func (r *Recorder) Sockets() (written, dropped int64) { return r.sockets.counts() }

// Run writes rows and deletes old ones until ctx ends. Then it writes all that wait, for storeTime at most.
func (r *Recorder) Run(ctx context.Context) {
	write, drop := time.NewTicker(writeEvery), time.NewTicker(dropEvery)
	defer write.Stop()
	defer drop.Stop()
	for {
		select {
		case <-write.C:
			r.write(ctx)
		case <-drop.C:
			r.refusals.dropOld(ctx)
			r.sockets.dropOld(ctx)
		case <-ctx.Done():
			r.writeAll(context.WithoutCancel(ctx))
			return
		}
	}
}

func (r *Recorder) write(ctx context.Context) {
	r.refusals.write(ctx)
	r.sockets.write(ctx)
}

// writeAll writes all rows that wait. What has not been written within storeTime is dropped.
func (r *Recorder) writeAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	for r.refusals.waits() || r.sockets.waits() {
		r.write(ctx)
	}
}
