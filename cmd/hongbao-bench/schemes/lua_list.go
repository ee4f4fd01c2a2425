package schemes

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"
)

// LuaList is article 2. Shares are cut beforehand and wait in a Redis list; one script pops a share for a user that has none.
// The claimed shares go to a second list, which one thread writes to the database.
//
// Its author says that it "may lose one second if Redis dies". More can be lost: a grab is answered before it is stored, and
// shares that the thread has popped exist only in its memory until they are written. There is no expiry. A refusal has no reason.
type LuaList struct {
	redis redis.UniversalClient
	db    *Database // nil: Redis alone, as the article measured it
	ready chan struct{}

	mu      sync.Mutex
	packets []string // guarded by mu; opened by this process
}

var _ Scheme = (*LuaList)(nil)

// NewLuaList makes the scheme; without a database nothing is stored.
func NewLuaList(r redis.UniversalClient, db *Database) *LuaList {
	return &LuaList{redis: r, db: db, ready: make(chan struct{})}
}

//go:embed lua_list.lua
var luaList string

var luaListScript = redis.NewScript(luaList)

// luaListShare is an element of the lists.
type luaListShare struct {
	ID    int    `json:"id"`
	Money int64  `json:"money"`
	User  string `json:"userId,omitempty"`
}

// LuaListUnclaimed returns the key of the list of a packet's free shares.
func LuaListUnclaimed(packet string) string { return "{" + packet + "}:unclaimed" }

// LuaListClaimed returns the key of the list of a packet's claimed shares that are not stored yet.
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
