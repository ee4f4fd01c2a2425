package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
)

// luaListRound is the peer of poolRound. It grabs a batch by article 2's scheme: one EVALSHA for each grab, each
// caller on its own connection. Nothing is stored, and the list of claimed shares is not emptied, which favours the
// peer.
type luaListRound struct {
	batch
	client *redis.Client
	scheme *schemes.LuaList
	ids    []string
	paid   atomic.Int64 // sum of the answers
}

func newLuaListRound(client *redis.Client, b batch, name string) *luaListRound {
	r := &luaListRound{batch: b, client: client, scheme: schemes.NewLuaList(client, nil)}
	for i := range b.packets {
		r.ids = append(r.ids, name+"-"+strconv.Itoa(i))
	}
	return r
}

// open pushes the shares: 1 is the first of each packet, 2 the second, and so on.
func (r *luaListRound) open(ctx context.Context) error {
	shares := make([]int64, r.shares)
	for i := range shares {
		shares[i] = int64(i + 1)
	}
	return each(ctx, r.ids, func(ctx context.Context, id string) error {
		return r.scheme.Open(ctx, schemes.Packet{ID: id, Shares: shares})
	})
}

func (r *luaListRound) play(ctx context.Context, crowd measure.Crowd) (measure.Round, error) {
	played, err := crowd.Call(ctx, func(ctx context.Context, i int) (bool, error) {
		if i >= r.all() {
			return false, nil
		}
		p, _ := r.place(i)
		a, err := r.scheme.Grab(ctx, r.ids[p], "u"+strconv.Itoa(i))
		if err == nil && a.Verdict != schemes.Got {
			err = fmt.Errorf("grab %d: %s", i, a.Verdict)
		}
		r.paid.Add(a.Amount)
		return true, err
	})
	if err == nil {
		err = r.check(ctx, played.Done)
	}
	return played, err
}

// check verifies that the claimed sum is the answered sum, and that each share is in exactly one of the lists.
func (r *luaListRound) check(ctx context.Context, done int) error {
	claimed, paid := 0, int64(0)
	for _, id := range r.ids {
		shares, err := r.claimed(ctx, id)
		if err != nil {
			return err
		}
		claimed += len(shares)
		for _, money := range shares {
			paid += money
		}
	}
	if claimed != done || paid != r.paid.Load() {
		return fmt.Errorf("%d grabs were answered with %d, %d shares of %d are claimed", done, r.paid.Load(), claimed, paid)
	}
	return nil
}

// claimed returns the claimed shares of a packet. It fails if a share is claimed twice or missing.
func (r *luaListRound) claimed(ctx context.Context, id string) ([]int64, error) {
	texts, err := r.client.LRange(ctx, schemes.LuaListClaimed(id), 0, -1).Result()
	if err != nil {
		return nil, err
	}
	left, err := r.client.LLen(ctx, schemes.LuaListUnclaimed(id)).Result()
	if err != nil {
		return nil, err
	}
	if len(texts)+int(left) != r.shares {
		return nil, fmt.Errorf("%s: of %d shares %d are claimed and %d are not", id, r.shares, len(texts), left)
	}
	shares, seen := make([]int64, len(texts)), make([]bool, r.shares+1)
	for i, text := range texts {
		var share struct {
			Money int64 `json:"money"`
		}
		if err := json.Unmarshal([]byte(text), &share); err != nil {
			return nil, err
		}
		if share.Money < 1 || share.Money > int64(r.shares) || seen[share.Money] {
			return nil, fmt.Errorf("%s: share %s is claimed twice or does not exist", id, text)
		}
		shares[i], seen[share.Money] = share.Money, true
	}
	return shares, nil
}
