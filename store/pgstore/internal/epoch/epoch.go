// Package epoch owns the epoch of the database and the identity of its server: whether the database is the one that this instance
// knows, and has all commits that it knows. It implements State, Serve, Missing, Accept and Renew of lineage.Store.
//
// It must always hold: Accept and Renew change nothing if the state is not the one that the caller has read, and no two of them, of any
// instances, overlap.
package epoch

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

// Keeper uses a connection outside the pool, because it decides whether the pool may be used at all. Only in a new database does State use the
// pool, to draw the epoch. The connection is kept for the next use.
type Keeper struct {
	pool *pg.Pool
	draw func(context.Context) (string, error)

	mu   sync.Mutex
	conn *pgx.Conn // guarded by mu; nil: none
}

// New returns a Keeper of the pool's database. draw returns the epoch of a new database.
func New(pool *pg.Pool, draw func(context.Context) (string, error)) *Keeper {
	return &Keeper{pool: pool, draw: draw}
}

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
func (k *Keeper) State(ctx context.Context) (st lineage.State, err error) {
	err = k.withConn(ctx, lineageTimeout, func(r pg.Reader) error {
		st, err = k.readState(r)
		return err
	})
	if err != nil {
		return lineage.State{}, tables.Outcome("read state of the database", err)
	}
	k.pool.NoteIdentity(st.Identity)
	switch {
	case st.Epoch != "":
	case k.pool.Serving():
		return lineage.State{}, tables.Unavailable("read state of the database", errNoEpoch)
	default: // a new database: the first reader draws the epoch
		st.Epoch, err = k.draw(ctx)
	}
	return st, err
}

// errNoEpoch means that a database in use has lost its epoch. Nothing is written then: it would be in the way of a
// backup that is just being restored.
var errNoEpoch = errors.New("the database has no epoch: is a backup being restored?")

func (k *Keeper) readState(r pg.Reader) (st lineage.State, err error) {
	if st.Identity, err = k.pool.ReadIdentity(r.Ctx, r.Conn); err != nil {
		return lineage.State{}, err
	}
	var epoch, stored []byte
	err = r.Conn.QueryRow(r.Ctx, `select (select value from settings where name = $1), (select value from settings where name = $2)`,
		tables.SettingEpoch, settingIdentity).Scan(&epoch, &stored)
	st.Epoch, st.Stored = string(epoch), string(stored)
	return st, err
}

// Serve implements lineage.Store.
func (k *Keeper) Serve(identity string) { k.pool.Serve(identity) }

// missingLinks counts the given links that do not exist.
const missingLinks = `select count(*) from unnest($1::bigint[], $2::bigint[]) m (chain, link)
	where not exists (select from links l where l.chain = m.chain::integer and l.id = m.link)`

// Missing implements lineage.Store.
func (k *Keeper) Missing(ctx context.Context, marks []lineage.Mark) (n int, err error) {
	numbers, links := make([]int64, len(marks)), make([]int64, len(marks))
	for i, m := range marks {
		numbers[i], links[i] = m.Chain, m.Link
	}
	err = k.withConn(ctx, lineageTimeout, func(r pg.Reader) error {
		return r.Conn.QueryRow(r.Ctx, missingLinks, numbers, links).Scan(&n)
	})
	return n, tables.Outcome("look for the newest commits", err)
}

// Accept implements lineage.Store.
func (k *Keeper) Accept(ctx context.Context, read lineage.State) (now lineage.State, err error) {
	err = k.inTurn(ctx, lineageTimeout, func(r pg.Reader) error {
		if now, err = k.readState(r); err != nil || now != read || now.Stored == now.Identity {
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
func (k *Keeper) Renew(ctx context.Context, read lineage.State) (now lineage.State, renewed *lineage.Renewed, err error) {
	err = k.inTurn(ctx, renewTimeout, func(r pg.Reader) error {
		renewed = nil
		if now, err = k.readState(r); err != nil || now.Epoch != read.Epoch || now.Identity != read.Identity {
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
func beginEpoch(r pg.Reader, identity string) (*lineage.Renewed, error) {
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

func putSetting(r pg.Reader, name, value string) error {
	_, err := r.Conn.Exec(r.Ctx, tables.PutSettingQuery, name, []byte(value))
	return err
}

// inTurn runs fn in a transaction that no other transaction of Accept or Renew overlaps.
func (k *Keeper) inTurn(ctx context.Context, limit time.Duration, fn func(r pg.Reader) error) error {
	return k.withConn(ctx, limit, func(r pg.Reader) error {
		if err := pg.Simple(r.Ctx, r.Conn, "begin isolation level read committed; select pg_advisory_xact_lock("+strconv.Itoa(lineageLock)+")"); err != nil {
			return err
		}
		if err := fn(r); err != nil {
			return err // the connection is closed, which rolls back
		}
		return pg.Commit(r.Ctx, r.Conn)
	})
}

// withConn runs fn with the connection, and opens it first if there is none. After an error it is closed. Calls run one
// after another.
func (k *Keeper) withConn(ctx context.Context, limit time.Duration, fn func(r pg.Reader) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn == nil {
		if k.conn, err = pg.ConnectFirst(ctx, k.pool.ConnConfig()); err != nil { // the first use is at the start of the program
			k.conn = nil
			return err
		}
	}
	if err = fn(pg.Reader{Ctx: ctx, Conn: k.conn}); err != nil {
		k.closeLocked()
	}
	return err
}

// Close closes the connection.
func (k *Keeper) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closeLocked()
}

func (k *Keeper) closeLocked() {
	if k.conn != nil {
		pg.CloseConn(k.conn)
		k.conn = nil
	}
}
