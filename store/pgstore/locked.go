package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket/keylock"
	"hongbao/store/pgstore/internal/pg"
)

// A row's key is one of these prefixes and the row's id; a member's row has the id room/user. A user's row and the same
// user's wallet share one key.
const (
	packetRow = "packet "
	walletRow = "wallet "
	roomRow   = "room "
	memberRow = "member "
)

// freeLocks is a message that locks rows without waiting, and finds the rows that other transactions have locked.
type freeLocks struct {
	pg.Message

	sets []rowSet
}

// rowSet holds the wanted rows of one kind: those that exist, and those of them that this transaction has locked.
type rowSet struct {
	kind             string
	existing, locked map[string]bool
}

// want adds rows to lock. The query selects their ids as its only column, and mode is the lock clause.
func (f *freeLocks) want(kind, query, mode string, args ...any) {
	set := rowSet{kind, map[string]bool{}, map[string]bool{}}
	f.sets = append(f.sets, set)
	f.Run(scanInto(set.locked), "", query+mode+` skip locked`, args...)
	f.Run(scanInto(set.existing), "", query, args...)
}

func scanInto(ids map[string]bool) func(pgx.Rows) error {
	return func(rs pgx.Rows) error {
		defer rs.Close()
		for rs.Next() {
			var id string
			if err := rs.Scan(&id); err != nil {
				return err
			}
			ids[id] = true
		}
		return rs.Err()
	}
}

// begin begins a transaction that locks the wanted rows which are free. It returns the keys of the rows that other
// transactions have locked.
func (f *freeLocks) begin(w *writer) (locked map[string]bool, err error) {
	if w.Citus {
		if err := w.begin(boundKeys); err != nil {
			return nil, err
		}
	}
	switch err := f.Send(w.reader); {
	case pg.LockTimeout(err):
		return nil, fmt.Errorf("%w: %w", errSkippedWaits, err)
	case err != nil:
		return nil, err
	}
	locked = map[string]bool{}
	for _, set := range f.sets {
		for id := range set.existing {
			if !set.locked[id] {
				locked[set.kind+id] = true
			}
		}
	}
	return locked, nil
}

// newFreeLocks returns a freeLocks that wants no rows yet. Its transaction waits for a lock for at most 20 ms (boundKeys), in
// most cases for a unique key that another transaction is inserting.
func newFreeLocks(citus bool) *freeLocks {
	f := &freeLocks{}
	if !citus { // on Citus, freeLocks.begin calls writer.begin, which sends these
		f.Add(begin)
		f.Add(boundStatement())
		f.Add(boundKeys)
		f.Add(boundIdle(0))
	}
	return f
}

// lockedKeys returns, for each job, the first of its keys that is locked, or "".
func lockedKeys[J any](jobs []J, keys func(J) [3]string, locked map[string]bool) []string {
	found := make([]string, len(jobs))
	for i, j := range jobs {
		for _, key := range keys(j) {
			if locked[key] {
				found[i] = key
				break
			}
		}
	}
	return found
}

// unlocked returns the jobs without a locked key.
func unlocked[J any](jobs []J, locked []string) (free []J) {
	for i, j := range jobs {
		if locked[i] == "" {
			free = append(free, j)
		}
	}
	return free
}

// keyLocks are mutexes by key. Without them, many sends of one user, or many changes of one room, could take all connections of
// single transactions only to wait for the same row. The zero value is ready.
type keyLocks struct{ keylock.Locks }

// lock waits until the caller has the mutex of the key. It fails when ctx or patience ends. The caller must call
// unlock.
func (l *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patienceOf(ctx), pg.ErrPatience)
	defer cancel()
	if unlock, err = l.Lock(ctx, key); err != nil {
		return nil, fmt.Errorf("earlier calls for %q have not ended: %w", key, err)
	}
	return unlock, nil
}
