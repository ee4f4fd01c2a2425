package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/store/loopback"
)

const (
	messageCallers = 200
	instances      = 3
	aText          = "新年快乐! happy new year to everybody in this room, and may all your packets be lucky ones"
)

// playMessage has messages into one hot room committed with fsync and then acknowledged: by three instances on one
// database, and by one transaction a message.
func playMessage(ctx context.Context, e *engines, s *site) ([]measure.Result, error) {
	pg, err := s.postgres(ctx)
	if err != nil {
		return nil, err
	}
	ours, err := instancesSide(ctx, e, s, pg)
	if err != nil {
		return nil, err
	}
	db, err := s.peerDatabase(ctx, pg)
	if err != nil {
		return nil, err
	}
	peer, err := singleMessageSide(ctx, e, db)
	if err != nil {
		return nil, err
	}
	result, err := e.match(ctx, measure.Match{
		Name: "messages in one room, 200 callers", Unit: "messages", Ours: ours, Peer: peer, Asked: measure.Asked{AtLeast: 5},
	})
	return []measure.Result{result}, err
}

// instancesSide sends through three services with a store each, which know nothing of one another.
func instancesSide(ctx context.Context, e *engines, s *site, pg *loopback.Postgres) (measure.Side, error) {
	url, err := pg.NewDatabase(ctx)
	if err != nil {
		return measure.Side{}, err
	}
	var rooms [instances]*chat.Service
	for i := range rooms {
		store, err := s.pgStore(ctx, url)
		if err != nil {
			return measure.Side{}, err
		}
		service := chat.New(store, silence{}, chat.Options{Log: s.log})
		s.later(func() error { service.Stop(); return nil })
		rooms[i] = service
	}
	members := people(messageCallers)
	room, err := fullRoom(ctx, rooms[0], members)
	if err != nil {
		return measure.Side{}, err
	}
	return measure.Side{Name: "3 instances", Ready: func(ctx context.Context, round int) (measure.Play, error) {
		last, err := rooms[0].LastSeqs(ctx, []string{room})
		log := newSeqLog(last[room])
		return func(ctx context.Context) (measure.Round, error) {
			played, err := e.crowd(messageCallers).Call(ctx, func(ctx context.Context, i int) (bool, error) {
				if i >= mostMessages {
					return false, nil
				}
				r, err := rooms[i%instances].Send(ctx, members[i%messageCallers], chat.Message{Room: room, Key: messageKey(round, i), Text: aText})
				if err != nil {
					return true, err
				}
				return true, log.note(r.Seq)
			})
			if err != nil {
				return played, err
			}
			last, err := rooms[0].LastSeqs(ctx, []string{room})
			if err != nil {
				return played, err
			}
			return played, log.check(played.Done, last[room])
		}, err
	}}, nil
}

func messageKey(round, i int) string { return "m-" + strconv.Itoa(round) + "-" + strconv.Itoa(i) }

// The tables of a chat that has one transaction for each message: as narrow as can be, with the same keys as ours.
const singleMessageTables = `
	create table room (id text primary key, last_seq bigint not null);
	insert into room values ('hall', 0);
	create table entry (room text, seq bigint, sender text not null, key text not null, body text not null, at timestamptz not null default now(),
		primary key (room, seq), unique (sender, key))`

func singleMessageSide(ctx context.Context, e *engines, db *schemes.Database) (measure.Side, error) {
	if err := db.Exec(ctx, singleMessageTables); err != nil {
		return measure.Side{}, err
	}
	last := int64(0)
	return measure.Side{Name: "one transaction a message", Ready: func(_ context.Context, round int) (measure.Play, error) {
		log := newSeqLog(last)
		return func(ctx context.Context) (measure.Round, error) {
			played, err := e.crowd(messageCallers).Call(ctx, func(ctx context.Context, i int) (bool, error) {
				if i >= mostMessages {
					return false, nil
				}
				seq, err := sendSingly(ctx, db, "u"+strconv.Itoa(i%messageCallers), messageKey(round, i))
				if err != nil {
					return true, err
				}
				return true, log.note(seq)
			})
			if err != nil {
				return played, err
			}
			err = db.With(ctx, func(c *pgx.Conn) error {
				return c.QueryRow(ctx, `select max(seq) from entry where room = 'hall'`).Scan(&last)
			})
			if err != nil {
				return played, err
			}
			return played, log.check(played.Done, last)
		}, nil
	}}, nil
}

func sendSingly(ctx context.Context, db *schemes.Database, sender, key string) (seq int64, err error) {
	err = db.Transact(ctx, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `select last_seq + 1 from room where id = 'hall' for update`).Scan(&seq); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `insert into entry (room, seq, sender, key, body) values ('hall', $1, $2, $3, $4)`, seq, sender, key, aText); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `update room set last_seq = $1 where id = 'hall'`, seq)
		return err
	})
	return seq, err
}

// seqLog notes which seqs were acknowledged in a round.
type seqLog struct {
	before int64
	seen   []atomic.Bool
}

// mostMessages in a round: more than anyone gets through.
const mostMessages = 1 << 20

func newSeqLog(before int64) *seqLog {
	return &seqLog{before: before, seen: make([]atomic.Bool, mostMessages)}
}

func (l *seqLog) note(seq int64) error {
	i := seq - l.before - 1
	if i < 0 || i >= mostMessages || l.seen[i].Swap(true) {
		return fmt.Errorf("seq %d was acknowledged twice, or is none of this round's", seq)
	}
	return nil
}

// check sees that each seq since the round began was acknowledged once, and that there are no others.
func (l *seqLog) check(done int, last int64) error {
	if last-l.before != int64(done) {
		return fmt.Errorf("%d messages were acknowledged, the room has %d more", done, last-l.before)
	}
	for i := range done {
		if !l.seen[i].Load() {
			return fmt.Errorf("seq %d was not acknowledged", l.before+int64(i)+1)
		}
	}
	return nil
}
