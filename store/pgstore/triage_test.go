package pgstore

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/chat"
)

// TestTriageOfKnownKeys checks jobs whose key is stored. Only an entry that an earlier run of the same job may have made is no duplicate.
func TestTriageOfKnownKeys(t *testing.T) {
	state := &appendState{requests: map[userKey]usedKey{{"ann", "k"}: {hash: []byte("h"), entry: chat.Entry{ID: "stored", Seq: 7}}}}
	for _, test := range []struct {
		name           string
		id             string
		maybeCommitted bool
		hash           string
		dup            bool
		err            error
	}{
		{"an earlier run has made it", "stored", true, "h", false, nil},
		{"the same draft once more, in another call", "stored", false, "h", true, nil},
		{"another call has made it while this one had no answer", "mine", true, "h", true, nil},
		{"another call has made it", "mine", false, "h", true, nil},
		{"other content", "mine", false, "x", true, chat.ErrKeyReused},
	} {
		j := &appendJob{draft: chat.Draft{ID: test.id, From: chat.User{ID: "ann"}, Key: "k", Hash: []byte(test.hash)}, maybeCommitted: test.maybeCommitted}
		accepted, repeats := (&writer{}).triage([]*appendJob{j}, state)
		if len(accepted)+len(repeats) > 0 || j.entry.Seq != 7 || j.dup != test.dup || !errors.Is(j.err, test.err) {
			t.Errorf("%s: accepted %d, entry %d, duplicate %v, %v; want a duplicate %v, %v", test.name, len(accepted), j.entry.Seq, j.dup, j.err, test.dup, test.err)
		}
	}
}

// TestReleaseChain ends transactions in each way. A chain may be used again only if it is known what its newest link is.
func TestReleaseChain(t *testing.T) {
	refused := &pgconn.PgError{Code: "23505"}
	for _, test := range []struct {
		name string
		link link
		err  error
		last int64 // of the chain that can be used again; 0: it cannot
	}{
		{"committed", link{id: 8, sent: true, added: true}, nil, 8},
		{"rolled back before the commit was sent", link{id: 8}, refused, 7},
		{"refused by Postgres", link{id: 8, sent: true}, refused, 7},
		{"the connection is lost during the commit", link{id: 8, sent: true}, fmt.Errorf("%w: reset", errLost), 0},
		{"the commit was sent, and its time is over", link{id: 8, sent: true}, context.DeadlineExceeded, 0},
		{"its opening was rolled back", link{id: 8, opened: true}, refused, 0},
	} {
		c := &chains{}
		w := &writer{chains: c, link: &test.link}
		w.link.chain = &ownChain{number: 1, last: 7}
		w.releaseChain(test.err)
		switch taken := c.take(); {
		case taken == nil && test.last != 0:
			t.Errorf("%s: the chain is given up", test.name)
		case taken != nil && taken.last != test.last:
			t.Errorf("%s: the chain is used again after link %d, want %d", test.name, taken.last, test.last)
		}
	}
}
