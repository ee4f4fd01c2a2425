package schemes

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// LuaList is article 2: shares are cut before, and wait in a list of Redis; one script pops a share for a user who
// has none. The claimed shares go to a second list, which one thread writes to the database.
//
// Its author says that it "may lose one second if Redis dies", and more is lost: a grab is told before it is stored,
// and what the thread has popped is nowhere while it writes. There is no expiry. A refusal does not say why.
type LuaList struct {
	redis redis.UniversalClient
	db    *Database // nil: Redis alone, as the article measured it

	mu      sync.Mutex
	packets []string // guarded by mu; those opened here
}

var _ Scheme = (*LuaList)(nil)

// NewLuaList makes the scheme; without a database nothing is stored.
func NewLuaList(r redis.UniversalClient, db *Database) *LuaList { return &LuaList{redis: r, db: db} }

//go:embed lua_list.lua
var luaList string

var luaListScript = redis.NewScript(luaList)

// luaListShare is what the lists hold.
type luaListShare struct {
	ID    int    `json:"id"`
	Money int64  `json:"money"`
	User  string `json:"userId,omitempty"`
}

// LuaListUnclaimed is the key of a packet's list of shares that are left.
func LuaListUnclaimed(packet string) string { return "{" + packet + "}:unclaimed" }

// LuaListClaimed is the key of a packet's list of shares that somebody has, and that are not stored yet.
func LuaListClaimed(packet string) string { return "{" + packet + "}:claimed" }

func luaListUsers(packet string) string { return "{" + packet + "}:users" }

// Open implements Scheme.
func (s *LuaList) Open(ctx context.Context, p Packet) error {
	if err := s.insertShares(ctx, p); err != nil {
		return err
	}
	pipe := s.redis.Pipeline()
	for i, money := range p.Shares {
		share, err := json.Marshal(luaListShare{ID: i, Money: money})
		if err != nil {
			return err
		}
		pipe.LPush(ctx, LuaListUnclaimed(p.ID), share)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("push shares of %s: %w", p.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packets = append(s.packets, p.ID)
	return nil
}

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

// Grab implements Scheme.
func (s *LuaList) Grab(ctx context.Context, packet, user string) (Answer, error) {
	keys := []string{LuaListUnclaimed(packet), LuaListClaimed(packet), luaListUsers(packet)}
	text, err := luaListScript.Run(ctx, s.redis, keys, user).Text()
	switch {
	case errors.Is(err, redis.Nil):
		return Answer{Verdict: Nothing}, nil
	case err != nil:
		return Answer{}, fmt.Errorf("grab %s: %w", packet, err)
	}
	var share luaListShare
	if err := json.Unmarshal([]byte(text), &share); err != nil {
		return Answer{}, fmt.Errorf("grab %s: %w", packet, err)
	}
	return Answer{Verdict: Got, Amount: share.Money}, nil
}

const (
	luaListEvery = 100 * time.Millisecond // how often the thread looks for claimed shares
	luaListBatch = 500
)

// Run implements Scheme: the thread that writes claimed shares to the database.
func (s *LuaList) Run(ctx context.Context) error {
	if s.db == nil {
		return nil
	}
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

// store writes what has been claimed of a packet. A crash between pop and update loses the batch.
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
