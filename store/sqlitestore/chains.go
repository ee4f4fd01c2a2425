package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"time"

	"hongbao/redpacket"
	"hongbao/store/chain"
)

// ownChain is the hash chain of the committer. Each transaction with chained rows adds one link to it. The first of these
// transactions also adds a link without rows: see opened.
type ownChain struct {
	number int64
	last   int64 // id of the newest link; 0: the chain is not stored yet
	opened int64 // id of the link without rows that opens or continues the chain; 0: this link is stored

	at     int64        // time of the first row that the open transaction has chained
	id     int64        // id of the link that the open transaction will add; 0: none yet
	leaves []chain.Hash // of the rows that the open transaction has inserted
}

// errTailLost means that the newest link of the chain in the file is not the one that this process has committed last. This
// happens if the file was replaced by an older one.
var errTailLost = errors.New("the database lost commits that it had confirmed")

// Chained implements tables.Tx. The rows of the leaves are inserted with the id that it returns.
func (w *writer) Chained(leaves ...chain.Hash) (id int64, err error) {
	if w.chain == nil {
		if w.chain, err = w.findChain(); err != nil {
			return 0, err
		}
	}
	c := w.chain
	if c.id == 0 {
		c.at = time.Now().UnixMilli()
		c.id = chain.LinkID(c.number, max(c.last, c.opened), c.at)
	}
	c.leaves = append(c.leaves, leaves...)
	return c.id, nil
}

// findChain returns a chain that an earlier store has given back, or a new one. It writes nothing: addLink stores that the chain
// is taken. No other process can take it before the commit, because none can write meanwhile.
func (w *writer) findChain() (*ownChain, error) {
	var c ownChain
	_, err := w.Row(`select f.id, coalesce((select max(id) from links where chain = f.id), 0)
		from (select coalesce((select min(id) from chains where free = 1), (select max(id) from chains) + 1, 1) as id) f`, nil, &c.number, &c.last)
	c.opened = chain.LinkID(c.number, c.last, time.Now().UnixMilli())
	return &c, err
}

// giveBack lets a later store continue the chain of this store, which is closing.
func (w *writer) giveBack() {
	if w.chain == nil || w.chain.opened != 0 {
		return
	}
	if _, err := w.Exec(`update chains set free = 1 where id = ?`, w.chain.number); err != nil {
		w.log.Debug("hash chain not given back", "err", err)
	}
}

// addLink adds the link of the open transaction, if the transaction has chained rows. If the transaction fails
// after that, the caller must forget the chain.
func (w *writer) addLink() error {
	c := w.chain
	if c == nil || len(c.leaves) == 0 {
		return nil
	}
	if c.opened != 0 {
		if err := w.openChain(); err != nil {
			return err
		}
	}
	prev, err := w.newestHash()
	if err != nil {
		return err
	}
	err = w.insertLink(chain.Link{ID: c.id, Prev: c.last, At: c.at, Leaves: int64(len(c.leaves)), Digest: chain.Digest(c.leaves)}, prev)
	c.last = c.id
	return err
}

// openChain adds the link without rows that opens or continues the chain.
func (w *writer) openChain() error {
	c, prev := w.chain, chain.Hash{}
	host, _ := os.Hostname()
	if _, err := w.Exec(`insert into chains (id, instance, at) values (?, ?, ?)
		on conflict (id) do update set instance = excluded.instance, at = excluded.at, free = 0`, c.number, host, c.at); err != nil {
		return err
	}
	if c.last != 0 {
		var err error
		if prev, err = w.newestHash(); err != nil {
			return err
		}
	}
	err := w.insertLink(chain.Link{ID: c.opened, Prev: c.last, At: c.at, Digest: chain.Digest(nil)}, prev)
	c.last, c.opened = c.opened, 0
	return err
}

func (w *writer) insertLink(l chain.Link, prev chain.Hash) error {
	hash := l.Hash(prev)
	_, err := w.Exec(`insert into links (chain, id, prev, at, leaves, hash) values (?, ?, ?, ?, ?, ?)`,
		l.Chain(), l.ID, l.Prev, l.At, l.Leaves, hash[:])
	return err
}

// newestHash reads the hash of the chain's newest link, as it is stored. It fails with errTailLost if the newest link
// is not the one that the writer knows as the last: the one that it has added last, or, before the first one, the one that
// findChain has found.
func (w *writer) newestHash() (chain.Hash, error) {
	var head redpacket.Head
	_, err := w.Row(`select chain, id, hash from links where chain = ? order by id desc limit 1`, []any{w.chain.number},
		&head.Chain, &head.Link, storedHash{&head.Hash})
	if err == nil && head.Link != w.chain.last {
		err = fmt.Errorf("%w: link %d of chain %d is missing", errTailLost, w.chain.last, w.chain.number)
	}
	return head.Hash, err
}

// mark returns the number of leaves so far. dropAfter drops the leaves after a mark: those of a job that is rolled back, or
// that of a claim that was not inserted.
func (w *writer) mark() int {
	if w.chain == nil {
		return 0
	}
	return len(w.chain.leaves)
}

func (w *writer) dropAfter(mark int) {
	if w.chain != nil {
		w.chain.leaves = w.chain.leaves[:mark]
	}
}

// nextLink prepares for the next transaction. It is called after each commit, with or without chained rows.
func (w *writer) nextLink() {
	if w.chain != nil {
		w.chain.id, w.chain.leaves = 0, w.chain.leaves[:0]
		if w.chain.opened != 0 {
			w.chain = nil // the chain was not stored, so another process may take it
		}
	}
}

// storedHash scans a SHA-256.
type storedHash struct{ into *chain.Hash }

// Scan implements sql.Scanner.
func (s storedHash) Scan(v any) error {
	if hash, ok := v.([]byte); !ok || copy(s.into[:], hash) != len(hash) || len(hash) != len(s.into) {
		return fmt.Errorf("a hash is stored as %d bytes of %T", len(hash), v)
	}
	return nil
}
