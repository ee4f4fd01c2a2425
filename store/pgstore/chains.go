package pgstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/store/chain"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// chains holds the hash chains that this store writes. Each transaction that adds a link (see commit) takes a chain, adds
// the link to it and releases it. So the links of a chain are serial, and no transaction waits for the chain of another one.
type chains struct {
	mu   sync.Mutex
	free []*ownChain // guarded by mu; used as a stack, so that few chains are in use
	era  int         // guarded by mu; counts the calls of forget
}

// ownChain is a chain that this store has opened or continued, and has not given back. At most one transaction uses it
// at a time.
type ownChain struct {
	number int64
	last   int64 // id of the newest link
	era    int   // that of chains in which it was opened
}

// link is the link that a transaction is about to add. Its rows are inserted with its id.
type link struct {
	chain  *ownChain
	id, at int64
	leaves []chain.Hash

	opened bool // the chain was opened inside this transaction, so a rollback undoes that
	sent   bool // the commit was sent; until added is set, the outcome may be unknown
	added  bool // the link is committed
}

// errTailLost means that Postgres lacks the newest link of a chain, although it had confirmed the commit of that link. The
// database was restored from a backup, or a failover lost its latest commits.
var errTailLost = errors.New("the database lost commits that it had confirmed")

// errNoChain means that no hash chain could be taken or opened. That is not the fault of the rows to be added.
var errNoChain = errors.New("no hash chain can be opened")

// takeLink returns the link of this transaction. The first call takes a free chain, or opens one.
func (w *writer) takeLink() (*link, error) {
	if w.link != nil {
		return w.link, nil
	}
	l := &link{at: time.Now().UnixMilli(), chain: w.chains.take()}
	if l.chain == nil {
		l.opened = w.Conn.PgConn().TxStatus() != 'I'
		l.chain = &ownChain{era: w.chains.present()}
		if err := w.openChain(l); err != nil {
			return nil, fmt.Errorf("%w: %w", errNoChain, err)
		}
	}
	l.id = chain.LinkID(l.chain.number, l.chain.last, l.at)
	w.link = l
	return l, nil
}

// Chained implements tables.Tx. The rows of the leaves are inserted with the id that it returns.
func (w *writer) Chained(leaves ...chain.Hash) (id int64, err error) {
	l, err := w.takeLink()
	if err != nil {
		return 0, err
	}
	l.leaves = append(l.leaves, leaves...)
	return l.id, nil
}

// openChain continues a chain that another store has given back, or opens a new one. Either way it adds a link without rows.
// After a restore, a store that was cut off may still hold the same chain. Because of the added link, the next transaction
// of that store that adds a link to the chain fails (prevMissing).
func (w *writer) openChain(l *link) error {
	found, err := w.Row(continueChain, []any{hostname(), l.at}, &l.chain.number, &l.chain.last)
	if err == nil && !found {
		_, err = w.Row(newChain, []any{hostname(), l.at}, &l.chain.number, &l.chain.last)
	}
	return err
}

// giveBack lets other stores continue the chains of this store, which is closing. Otherwise each start of a store would
// add chains. No store continues a chain if its store was killed, could not reach Postgres here, or has given it up
// (releaseChain, forget).
func (s *Store) giveBack() {
	var numbers []int64
	for c := s.chains.take(); c != nil; c = s.chains.take() {
		numbers = append(numbers, c.number)
	}
	if numbers == nil || s.OutOfReach() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), pg.CloseTimeout)
	defer cancel()
	pooled, err := s.pool.Acquire(ctx)
	if err == nil {
		_, err = pooled.Exec(ctx, `update chains set free = true where id = any($1)`, numbers)
		pooled.Release()
	}
	if err != nil {
		s.log.Debug("hash chains not given back", "err", err)
	}
}

// continueChain takes a free chain, if there is one that no other transaction is taking, and adds a link without rows
// to it.
var continueChain = `
with c as (
	select id from chains where free order by id limit 1 for update skip locked
), taken as (
	update chains set free = false, instance = $1, at = $2 from c where chains.id = c.id returning chains.id
)
insert into links (chain, id, prev, at, leaves, hash)
select n.chain, n.id, n.prev, n.at, 0, sha256(` + bytea(chain.Prefix()) + ` || n.hash
	|| int8send(n.id) || int8send(n.prev) || int8send(n.at) || int8send(0) || ` + bytea(digestOfNone[:]) + `)
from taken cross join lateral (
	select chain, greatest($2::bigint * 1048576 + chain, id + 1048576) as id, id as prev, $2::bigint as at, hash
	from links where chain = taken.id order by links.id desc limit 1) n
returning chain, id`

// newChain adds a chain with its first link. The id of the link contains the number of the chain, which Postgres assigns (identity).
var newChain = `
with c as (insert into chains (instance, at) values ($1, $2) returning id)
insert into links (chain, id, prev, at, leaves, hash)
select c.id, l.id, 0, l.at, 0, sha256(` + bytea(chain.Prefix()) + ` || ` + bytea(make([]byte, len(chain.Hash{}))) + `
	|| int8send(l.id) || int8send(0) || int8send(l.at) || int8send(0) || ` + bytea(digestOfNone[:]) + `)
from c cross join lateral (select $2::bigint * 1048576 + c.id as id, $2::bigint as at) l
returning chain, id`

var digestOfNone = chain.Digest(nil)

// bytea returns b as an SQL literal.
func bytea(b []byte) string { return `'\x` + hex.EncodeToString(b) + `'::bytea` }

// prevHash selects the hash of a chain's newest link. It is null if that is not the link that this store added last. It
// is a format: fill in the number of the chain and the id of that link.
const prevHash = `(select hash from (select id, hash from links where chain = %s order by id desc limit 1) newest where id = %s)`

// insertLink returns the statement that inserts the link. Postgres computes the hash from the link before as it is
// stored. If that is missing or not the newest of the chain, the hash is null and the statement fails (prevMissing).
func (l *link) insertLink() string {
	next := chain.Link{ID: l.id, Prev: l.chain.last, At: l.at, Leaves: int64(len(l.leaves)), Digest: chain.Digest(l.leaves)}
	prev := fmt.Sprintf(prevHash, strconv.FormatInt(l.chain.number, 10), strconv.FormatInt(next.Prev, 10))
	return fmt.Sprintf(`insert into links (chain, id, prev, at, leaves, hash) select %d, %d, %d, %d, %d, sha256(%s || %s || %s)`,
		l.chain.number, next.ID, next.Prev, next.At, next.Leaves, bytea(chain.Prefix()), prev, bytea(next.Suffix()))
}

// commit adds the link, if the transaction has chained rows or events, and commits. This is one round trip if no chain must be
// opened. A transaction with events but without chained rows adds a link without rows. So it holds a chain, and another store
// notices if it uses the same one. On Citus, a transaction that changes split tables adds a link, too, so that Citus commits in
// two phases. Any other transaction is only committed.
func (w *writer) commit() error {
	if !w.refs.Empty() || w.splitWrites {
		if _, err := w.takeLink(); err != nil {
			return err
		}
	}
	l := w.link
	if l == nil || len(l.leaves) == 0 && w.refs.Empty() && !w.splitWrites {
		return pg.Commit(w.Ctx, w.Conn)
	}
	events, err := w.addEvents()
	if err != nil {
		return err
	}
	l.sent = true
	tag, err := w.Conn.Exec(w.Ctx, l.insertLink()+"; "+events+"commit")
	if err == nil {
		err = pg.Committed(tag)
	}
	if err == nil {
		l.added = true
	}
	return err
}

// committedWithout notes that the transaction adds no chained rows, and so no link. Its chain can be used again.
func (l *link) committedWithout() { l.opened, l.sent = false, false }

// releaseChain makes the chain free for other transactions of this store after a run, which has returned err. A chain
// is never used again if its opening was rolled back, if it is unknown whether the link was added, if Postgres has
// another newest link than expected, or if forget was called meanwhile.
func (w *writer) releaseChain(err error) {
	l := w.link
	switch {
	case l == nil:
	case l.added:
		l.chain.last = l.id
		w.chains.put(l.chain)
	case l.opened || prevMissing(err) || l.sent && (errors.Is(err, errLost) || pg.SQLState(err) == ""):
	default:
		w.chains.put(l.chain)
	}
}

// forget gives up all chains. One that a transaction uses is given up when the transaction ends.
func (c *chains) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = nil
	c.era++
}

// present returns the era in which a chain that is opened now can be used.
func (c *chains) present() (era int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.era
}

func (c *chains) take() *ownChain {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.free) - 1
	if last < 0 {
		return nil
	}
	taken := c.free[last]
	c.free = c.free[:last]
	return taken
}

func (c *chains) put(free *ownChain) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if free.era == c.era {
		c.free = append(c.free, free)
	}
}

// prevMissing reports whether Postgres could not compute the hash of a link, because the link before it is not the
// newest of its chain.
func prevMissing(err error) bool { return nullInLink(err, "hash") }

func nullInLink(err error, column string) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.Code == "23502" && tableOf(failed) == "links" && failed.ColumnName == column
}

// chainFailed reports whether a transaction failed because of its chain, its link or its events, not because of the
// other rows that it adds.
func chainFailed(err error) bool {
	var failed *pgconn.PgError
	return errors.Is(err, errNoChain) || errors.As(err, &failed) && slices.Contains([]string{"chains", "links", "events"}, tableOf(failed))
}

// tableOf returns the table of an error. A table that Citus knows is called by its name and a number, as links_102264.
func tableOf(failed *pgconn.PgError) string {
	name, _, _ := strings.Cut(failed.TableName, "_1")
	return name
}

// explainMissing returns what an error means for which prevMissing is true. If Postgres has the link that this store added
// last, another commit has added a link after it: for example one of another store that uses the same chain. The result is then
// tables.ErrRetry, and the next run uses another chain. Otherwise the result is errTailLost, or the error of reading the link. The
// transaction must have been rolled back before.
func (w *writer) explainMissing(err error) error {
	found, readErr := w.Row(`select 1 from links where chain = $1 and id = $2`, []any{w.link.chain.number, w.link.chain.last}, new(int))
	switch {
	case readErr != nil:
		return readErr
	case found:
		return fmt.Errorf("%w: chain %d has a link that this store does not know", tables.ErrRetry, w.link.chain.number)
	}
	return fmt.Errorf("%w: link %d of chain %d is missing: %s", errTailLost, w.link.chain.last, w.link.chain.number, err.Error())
}

// hostname returns the name that the table of chains has for this instance. No program reads it: it helps an operator to find
// the instance of a chain.
func hostname() string {
	name, _ := os.Hostname()
	return strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "")
}
