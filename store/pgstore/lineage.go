package pgstore

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/store/lineage"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// State, Missing, Accept and Renew of lineage.Store share a connection outside the pool, because they decide whether the pool
// may be used at all. Only in a new database does State use the pool, to draw the epoch.

const (
	// lineageTimeout bounds what each call of State, Missing and Accept does on that connection.
	lineageTimeout = 5 * time.Second
	// renewTimeout bounds the beginning of an epoch, which updates the row of each user that has a seed.
	renewTimeout = 10 * time.Minute
	// lineageLock is the number of an advisory lock that only Accept and Renew take, until their transactions end.
	lineageLock = 0x6c696e65616765
)

// settingIdentity is the name of the setting for the identity of the server. Accept writes it, and Renew writes it
// together with the epoch.
const settingIdentity = "identity"

// State implements lineage.Store.
func (s *Store) State(ctx context.Context) (st lineage.State, err error) {
	err = s.withOwnConn(ctx, lineageTimeout, func(r reader) error {
		st, err = s.readState(r)
		return err
	})
	if err != nil {
		return lineage.State{}, tables.Outcome("read state of the database", err)
	}
	s.pool.NoteIdentity(st.Identity)
	switch {
	case st.Epoch != "":
	case s.pool.Serving():
		return lineage.State{}, tables.Unavailable("read state of the database", errNoEpoch)
	default: // a new database: the first reader draws the epoch
		st.Epoch, err = s.Epoch(ctx)
	}
	return st, err
}

// errNoEpoch means that a database in use has lost its epoch. Nothing is written then: it would be in the way of a
// backup that is just being restored.
var errNoEpoch = errors.New("the database has no epoch: is a backup being restored?")

func (s *Store) readState(r reader) (st lineage.State, err error) {
	if st.Identity, err = s.pool.ReadIdentity(r.Ctx, r.Conn); err != nil {
		return lineage.State{}, err
	}
	var epoch, stored []byte
	err = r.Conn.QueryRow(r.Ctx, `select (select value from settings where name = $1), (select value from settings where name = $2)`,
		tables.SettingEpoch, settingIdentity).Scan(&epoch, &stored)
	st.Epoch, st.Stored = string(epoch), string(stored)
	return st, err
}

// Serve implements lineage.Store.
func (s *Store) Serve(identity string) { s.pool.Serve(identity) }

// Recent implements lineage.Store.
func (s *Store) Recent() *lineage.Recent { return &s.recent }

// ForgetCached implements lineage.Store. It gives up the present chains, because their newest links may be lost. It keeps the
// cached shares of packets, because they never change.
func (s *Store) ForgetCached() {
	s.seeded.forget()
	s.chains.forget()
}

// OnLoss implements lineage.Store.
func (s *Store) OnLoss(lost func(reason string)) { s.onLoss.Store(&lost) }

// noteLoss calls the function of OnLoss if the error says that the newest link of the chain is lost. It does not call it for
// a chain that was given up: that may have lost links, and is not used again.
func (s *Store) noteLoss(l *link, err error) {
	if lost := s.onLoss.Load(); lost != nil && errors.Is(err, errTailLost) && l.chain.era == s.chains.present() {
		(*lost)(err.Error())
	}
}

// missingLinks counts the given links that do not exist.
const missingLinks = `select count(*) from unnest($1::bigint[], $2::bigint[]) m (chain, link)
	where not exists (select from links l where l.chain = m.chain::integer and l.id = m.link)`

// Missing implements lineage.Store.
func (s *Store) Missing(ctx context.Context, marks []lineage.Mark) (n int, err error) {
	numbers, links := make([]int64, len(marks)), make([]int64, len(marks))
	for i, m := range marks {
		numbers[i], links[i] = m.Chain, m.Link
	}
	err = s.withOwnConn(ctx, lineageTimeout, func(r reader) error {
		return r.Conn.QueryRow(r.Ctx, missingLinks, numbers, links).Scan(&n)
	})
	return n, tables.Outcome("look for the newest commits", err)
}

// Accept implements lineage.Store.
func (s *Store) Accept(ctx context.Context, read lineage.State) (now lineage.State, err error) {
	err = s.inLineage(ctx, lineageTimeout, func(r reader) error {
		if now, err = s.readState(r); err != nil || now != read || now.Stored == now.Identity {
			return err
		}
		now.Stored = now.Identity
		return putSetting(r, settingIdentity, now.Identity)
	})
	return now, tables.Outcome("store the server's identity", err)
}

// forgetSeeds locks the table of users against all writers and senders, and forgets the seeds of packets that were not
// sent yet. A new seed is drawn when the user needs one.
const forgetSeeds = `lock table users in exclusive mode; update users set next_seed = null where next_seed is not null`

// Renew implements lineage.Store. No packet can be sent while it runs: a send locks the row of its sender first.
func (s *Store) Renew(ctx context.Context, read lineage.State) (now lineage.State, renewed *lineage.Renewed, err error) {
	err = s.inLineage(ctx, renewTimeout, func(r reader) error {
		renewed = nil
		if now, err = s.readState(r); err != nil || now.Epoch != read.Epoch || now.Identity != read.Identity {
			return err
		}
		if renewed, err = beginEpoch(r, now.Identity); err == nil {
			now.Epoch, now.Stored = renewed.Epoch, now.Identity
		}
		return err
	})
	if err != nil {
		return lineage.State{}, nil, tables.Outcome("begin an epoch", err)
	}
	return now, renewed, nil
}

// beginEpoch writes all that belongs to a new epoch.
func beginEpoch(r reader, identity string) (*lineage.Renewed, error) {
	begun := lineage.Renewed{Epoch: rand.Text()}
	results, err := r.Conn.PgConn().Exec(r.Ctx, forgetSeeds).ReadAll()
	if err != nil {
		return nil, err
	}
	begun.Seeds = results[len(results)-1].CommandTag.RowsAffected()
	var newest int64
	err = r.Conn.QueryRow(r.Ctx, `select count(*), coalesce(max(created_at), 0) from packets where status = 'open'`).Scan(&begun.Packets, &newest)
	if err == nil && begun.Packets > 0 {
		err = putSetting(r, tables.SettingOpenBefore, strconv.FormatInt(newest, 10))
	}
	if err == nil {
		err = putSetting(r, settingIdentity, identity)
	}
	if err == nil {
		err = putSetting(r, tables.SettingEpoch, begun.Epoch)
	}
	return &begun, err
}

func putSetting(r reader, name, value string) error {
	_, err := r.Conn.Exec(r.Ctx, tables.PutSettingQuery, name, []byte(value))
	return err
}

// inLineage runs fn in a transaction that no other transaction of Accept or Renew overlaps.
func (s *Store) inLineage(ctx context.Context, limit time.Duration, fn func(r reader) error) error {
	return s.withOwnConn(ctx, limit, func(r reader) error {
		if err := pg.Simple(r.Ctx, r.Conn, begin+"; select pg_advisory_xact_lock("+strconv.Itoa(lineageLock)+")"); err != nil {
			return err
		}
		if err := fn(r); err != nil {
			return err // the connection is closed, which rolls back
		}
		return pg.Commit(r.Ctx, r.Conn)
	})
}

// ownConn is a connection that is not one of the pool. It is kept for the next use.
type ownConn struct {
	mu   sync.Mutex
	conn *pgx.Conn // guarded by mu; nil: none
}

// use runs fn with the connection, and opens it first if there is none. After an error it is closed. Calls run one
// after another.
func (o *ownConn) use(ctx context.Context, config *pgx.ConnConfig, fn func(r reader) error) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn == nil {
		if o.conn, err = pg.ConnectFirst(ctx, config); err != nil { // the first use is at the start of the program
			o.conn = nil
			return err
		}
	}
	if err = fn(reader{pg.Reader{Ctx: ctx, Conn: o.conn}}); err != nil {
		o.closeLocked()
	}
	return err
}

func (o *ownConn) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closeLocked()
}

func (o *ownConn) closeLocked() {
	if o.conn != nil {
		pg.CloseConn(o.conn)
		o.conn = nil
	}
}

// withOwnConn runs fn with a connection that is not one of the pool.
func (s *Store) withOwnConn(ctx context.Context, limit time.Duration, fn func(r reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.own.use(ctx, s.pool.ConnConfig(), fn)
}
