package schemes

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// book adds change to the user's wallet and records the operation. The article's accounts may be overdrawn.
func (s *LuaSplit) book(ctx context.Context, tx pgx.Tx, packet, user, operation string, money, change int64) error {
	if _, err := tx.Exec(ctx, `insert into wallet (user_id, balance) values ($1, $2)
		on conflict (user_id) do update set balance = wallet.balance + excluded.balance`, user, change); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `insert into record (packet_id, user_id, operation, money) values ($1, $2, $3, $4)`, packet, user, operation, money)
	return err
}

// send takes the money from the sender and inserts the packet.
func (s *LuaSplit) send(ctx context.Context, p Packet) error {
	err := s.db.Transact(ctx, func(tx pgx.Tx) error {
		if err := s.book(ctx, tx, p.ID, p.Sender, "SEND", p.Total(), -p.Total()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `insert into red_packet (id, user_id, money, number) values ($1, $2, $3, $4)`, p.ID, p.Sender, p.Total(), len(p.Shares))
		return err
	})
	if err != nil {
		return fmt.Errorf("send %s: %w", p.ID, err)
	}
	return nil
}

// storeGrab credits the answered amount to the user.
func (s *LuaSplit) storeGrab(ctx context.Context, e splitEvent) error {
	return s.db.Transact(ctx, func(tx pgx.Tx) error {
		if err := s.book(ctx, tx, e.packet, e.user, e.operation, e.money, e.money); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `update red_packet set money = money - $2, number = number - 1 where id = $1`, e.packet, e.money)
		return err
	})
}

func (s *LuaSplit) senderOf(ctx context.Context, packet string) (sender string, err error) {
	err = s.db.With(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `select user_id from red_packet where id = $1`, packet).Scan(&sender)
	})
	return sender, err
}

// storeReturn credits the rest in the table to the sender. It locks nothing: if two processes read the row before either has deleted
// it, both pay.
func (s *LuaSplit) storeReturn(ctx context.Context, e splitEvent) error {
	err := s.db.Transact(ctx, func(tx pgx.Tx) error {
		var left int64
		err := tx.QueryRow(ctx, `select money from red_packet where id = $1`, e.packet).Scan(&left)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		case left > 0:
			if err := s.book(ctx, tx, e.packet, e.user, e.operation, left, left); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `delete from red_packet where id = $1`, e.packet)
		return err
	})
	if err != nil {
		return err
	}
	pipe := s.redis.Pipeline()
	pipe.HDel(ctx, splitRecord, e.user+"-"+e.packet) // the sender's own entry, if the sender grabbed; those of other users stay for ever
	pipe.HDel(ctx, splitNumber, e.packet)
	_, err = pipe.Exec(ctx)
	return err
}

// Stored implements Scheme.
func (s *LuaSplit) Stored(ctx context.Context, packet string) (b Book, err error) {
	var sent bool
	err = s.db.With(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `select operation, user_id, money, at from record where packet_id = $1
			union all select 'LEFT', user_id, money, now() from red_packet where id = $1 order by at`, packet)
		if err != nil {
			return err
		}
		var operation, user string
		var money int64
		_, err = pgx.ForEachRow(rows, []any{&operation, &user, &money, nil}, func() error {
			switch operation {
			case "SEND":
				sent = true
			case "GRAB":
				b.Paid = append(b.Paid, Paid{User: user, Amount: money})
			case "RETURN":
				b.Refunded += money
			case "LEFT":
				b.Left = money
			}
			return nil
		})
		return err
	})
	switch {
	case err != nil:
		return Book{}, fmt.Errorf("read %s: %w", packet, err)
	case !sent:
		return Book{}, ErrNotFound
	}
	return b, nil
}
