package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
)

// pessimisticSide is the peer that grabs one hot packet by article 3's row lock.
func pessimisticSide(e *engines, db *schemes.Database, shares int) measure.Side {
	scheme := schemes.NewPessimistic(db)
	return measure.Side{Name: "pessimistic", Ready: func(ctx context.Context, round int) (measure.Play, error) {
		p := schemes.Packet{ID: "hot-" + strconv.Itoa(round), Sender: "sender", Shares: make([]int64, shares)}
		for i := range p.Shares {
			p.Shares[i] = shareOnAverage
		}
		return func(ctx context.Context) (measure.Round, error) {
			played, err := e.crowd(grabCallers).Call(ctx, func(ctx context.Context, i int) (bool, error) {
				if i >= shares {
					return false, nil
				}
				a, err := scheme.Grab(ctx, p.ID, "u"+strconv.Itoa(i))
				if err == nil && (a.Verdict != schemes.Got || a.Amount != shareOnAverage) {
					err = fmt.Errorf("grab %d: %+v", i, a)
				}
				return true, err
			})
			if err == nil {
				err = checkBook(ctx, scheme, p, played.Done)
			}
			return played, err
		}, scheme.Open(ctx, p)
	}}
}

func checkBook(ctx context.Context, scheme schemes.Scheme, p schemes.Packet, done int) error {
	book, err := scheme.Stored(ctx, p.ID)
	if err != nil {
		return err
	}
	sum := book.Left
	for _, paid := range book.Paid {
		sum += paid.Amount
	}
	if len(book.Paid) != done || sum != p.Total() {
		return fmt.Errorf("%d grabs were answered, %d are stored; %d of %d are paid or left", done, len(book.Paid), sum, p.Total())
	}
	return nil
}

// singleGrabTables are the tables of singleGrabSide: as narrow as possible, with the same keys as those of the
// service.
const singleGrabTables = `
	create table claim (packet text, share int, user_id text not null, amount bigint not null, primary key (packet, share), unique (packet, user_id));
	create table wallet (user_id text primary key, balance bigint not null);
	create table transfer (id text primary key, at timestamptz not null default now(), debit text not null, credit text not null, amount bigint not null)`

// singleGrabSide is a peer, the baseline that the service is compared with. It grabs many packets with one transaction
// for each grab, which inserts the claim, the wallet's change and the transfer. No two grabs want the same row.
// Choosing the share costs it nothing, which favours the peer.
func singleGrabSide(ctx context.Context, e *engines, db *schemes.Database, b batch, members []chat.User) (measure.Side, error) {
	if err := db.Exec(ctx, singleGrabTables); err != nil {
		return measure.Side{}, err
	}
	if err := db.Exec(ctx, `insert into wallet select 'u' || i, 0 from generate_series(0, $1::int - 1) as i`, len(members)); err != nil {
		return measure.Side{}, err
	}
	total := 0
	return measure.Side{Name: "one transaction a grab", Ready: func(_ context.Context, round int) (measure.Play, error) {
		return func(ctx context.Context) (measure.Round, error) {
			played, err := e.crowd(grabCallers).Call(ctx, func(ctx context.Context, i int) (bool, error) {
				if i >= b.all() {
					return false, nil
				}
				p, before := b.place(i)
				packet := strconv.Itoa(round) + "-" + strconv.Itoa(p)
				return true, grabSingly(ctx, db, packet, before, members[grabber(p, before, len(members))].ID)
			})
			if err == nil {
				total += played.Done
				err = checkSingly(ctx, db, total)
			}
			return played, err
		}, nil
	}}, nil
}

func grabSingly(ctx context.Context, db *schemes.Database, packet string, share int, user string) error {
	return db.Transact(ctx, func(tx pgx.Tx) error {
		inserted, err := tx.Exec(ctx, `insert into claim (packet, share, user_id, amount) values ($1, $2, $3, $4) on conflict do nothing`,
			packet, share, user, shareOnAverage)
		if err == nil && inserted.RowsAffected() != 1 {
			err = fmt.Errorf("share %d of %s is not free", share, packet)
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `update wallet set balance = balance + $2 where user_id = $1`, user, shareOnAverage); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `insert into transfer (id, debit, credit, amount) values ($1, $2, $3, $4)`,
			"claim:"+packet+":"+strconv.Itoa(share), "packet:"+packet, "user:"+user, shareOnAverage)
		return err
	})
}

// checkSingly checks that each grab of the peer so far is stored in all of its tables.
func checkSingly(ctx context.Context, db *schemes.Database, grabs int) error {
	return db.With(ctx, func(c *pgx.Conn) error {
		var claims, transfers int
		var balances int64
		err := c.QueryRow(ctx, `select (select count(*) from claim), (select count(*) from transfer), (select sum(balance)::bigint from wallet)`).
			Scan(&claims, &transfers, &balances)
		if err == nil && (claims != grabs || transfers != grabs || balances != int64(grabs*shareOnAverage)) {
			err = fmt.Errorf("%d grabs were answered, %d claims and %d transfers are stored, wallets hold %d", grabs, claims, transfers, balances)
		}
		return err
	})
}
