package schemes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

func (s *LuaList) insertShares(ctx context.Context, p Packet) error {
	if s.db == nil {
		return nil
	}
	rows := pgx.CopyFromSlice(len(p.Shares), func(i int) ([]any, error) { return []any{p.ID, i, p.Shares[i]}, nil })
	err := s.db.With(ctx, func(c *pgx.Conn) error {
		_, err := c.CopyFrom(ctx, pgx.Identifier{"share"}, []string{"packet_id", "id", "money"}, rows)
		return err
	})
	if err != nil {
		return fmt.Errorf("insert shares of %s: %w", p.ID, err)
	}
	return nil
}

const (
	luaListEvery = 100 * time.Millisecond // how often the thread looks for claimed shares
	luaListBatch = 500
)

// Run implements Scheme: the thread that writes claimed shares to the database, also of packets that were opened before it
// started.
func (s *LuaList) Run(ctx context.Context) error {
	if s.db == nil {
		close(s.ready)
		<-ctx.Done()
		return nil
	}
	if err := s.know(ctx); err != nil {
		return err
	}
	close(s.ready)
	tick := time.NewTicker(luaListEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		s.mu.Lock()
		packets := s.packets
		s.mu.Unlock()
		for _, packet := range packets {
			if err := s.store(context.WithoutCancel(ctx), packet); err != nil {
				return err
			}
		}
	}
}

// Ready returns a channel that is closed as soon as the thread knows the packets.
func (s *LuaList) Ready() <-chan struct{} { return s.ready }

// know reads the packets that have shares without a stored user.
func (s *LuaList) know(ctx context.Context) error {
	return s.db.With(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `select distinct packet_id from share where user_id is null`)
		if err != nil {
			return err
		}
		packets, err := pgx.CollectRows(rows, pgx.RowTo[string])
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, packet := range packets {
			if !slices.Contains(s.packets, packet) {
				s.packets = append(s.packets, packet)
			}
		}
		return err
	})
}

// store writes the claimed shares of a packet. A crash between pop and update loses the batch.
func (s *LuaList) store(ctx context.Context, packet string) error {
	for {
		popped, err := s.redis.RPopCount(ctx, LuaListClaimed(packet), luaListBatch).Result()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("pop claims of %s: %w", packet, err)
		}
		ids, users := make([]int, len(popped)), make([]string, len(popped))
		for i, text := range popped {
			var share luaListShare
			if err := json.Unmarshal([]byte(text), &share); err != nil {
				return fmt.Errorf("claims of %s: %w", packet, err)
			}
			ids[i], users[i] = share.ID, share.User
		}
		if err := s.db.Exec(ctx, `update share set user_id = c.user_id from unnest($2::int[], $3::text[]) as c (id, user_id)
			where share.packet_id = $1 and share.id = c.id`, packet, ids, users); err != nil {
			return fmt.Errorf("store claims of %s: %w", packet, err)
		}
	}
}

// Stored implements Scheme.
func (s *LuaList) Stored(ctx context.Context, packet string) (Book, error) {
	if s.db == nil {
		return Book{}, ErrNotFound
	}
	var shares []Paid
	err := s.db.With(ctx, func(c *pgx.Conn) (err error) {
		shares, err = readPaid(ctx, c, `select coalesce(user_id, ''), money from share where packet_id = $1 order by id`, packet)
		return err
	})
	if err != nil {
		return Book{}, fmt.Errorf("read shares of %s: %w", packet, err)
	}
	if len(shares) == 0 {
		return Book{}, ErrNotFound
	}
	var b Book
	for _, share := range shares {
		if share.User == "" {
			b.Left += share.Amount
		} else {
			b.Paid = append(b.Paid, share)
		}
	}
	return b, nil
}
