package redisstore

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// crowd grabs without end, user after user and then again, and joins what is missing as the service does. It
// remembers what it was told, which is all that SQL would have.
type crowd struct {
	t     *testing.T
	pool  *Pool
	image redpacket.Image
	ctx   context.Context
	stop  context.CancelFunc
	gone  sync.WaitGroup

	failed  atomic.Int64
	slowest atomic.Int64
	users   atomic.Int64

	mu     sync.Mutex
	owners map[int]string
	told   chan struct{} // one for each success, as far as anyone listens
}

const crowdUsers = 5_000

func gather(t *testing.T, pool *Pool, partition, callers int) *crowd {
	ctx, stop := context.WithCancel(context.Background())
	c := &crowd{
		t: t, pool: pool, ctx: ctx, stop: stop, owners: map[int]string{}, told: make(chan struct{}),
		image: redpacket.Image{
			Ref: redpacket.Ref{ID: t.Name() + strconv.FormatInt(time.Now().UnixNano(), 36), Partition: partition}, Count: 2 * crowdUsers,
			Deadline: time.Now().Add(time.Hour), Status: redpacket.Open,
		},
	}
	t.Cleanup(c.leave)
	for range callers {
		c.gone.Go(func() {
			for ctx.Err() == nil {
				c.grab("user-" + strconv.Itoa(int(c.users.Add(1)%crowdUsers)))
			}
		})
	}
	return c
}

// leave ends the crowd, and returns when all have gone.
func (c *crowd) leave() {
	c.stop()
	c.gone.Wait()
}

func (c *crowd) grab(user string) {
	from := time.Now()
	got, err := c.pool.Grab(context.Background(), []redpacket.Attempt{{Ref: c.image.Ref, User: user}})
	for took := int64(time.Since(from)); ; {
		slowest := c.slowest.Load()
		if took <= slowest || c.slowest.CompareAndSwap(slowest, took) {
			break
		}
	}
	switch {
	case errors.Is(err, chat.ErrUnavailable):
		c.failed.Add(1)
	case err != nil:
		c.t.Errorf("an error that nobody has a word for: %v", err)
		c.stop()
	case got[0].Decision == redpacket.Missing:
		if err := c.pool.Load(context.Background(), c.truth()); err != nil && !errors.Is(err, chat.ErrUnavailable) {
			c.t.Errorf("load: %v", err)
		}
	case got[0].Decision != redpacket.Granted && got[0].Decision != redpacket.Yours:
		c.t.Errorf("%s: %+v", user, got[0])
		c.stop()
	default:
		c.note(user, got[0].Share)
	}
}

// note is what SQL's unique keys do: a share that is another's stays his.
func (c *crowd) note(user string, share int) {
	c.mu.Lock()
	if _, taken := c.owners[share]; !taken {
		c.owners[share] = user
	}
	c.mu.Unlock()
	select {
	case c.told <- struct{}{}:
	case <-c.ctx.Done():
	default:
	}
}

// truth is the image that SQL would give.
func (c *crowd) truth() redpacket.Image {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.image
	for share, user := range c.owners {
		i.Grants = append(i.Grants, redpacket.Grant{User: user, Share: share})
	}
	return i
}

// await returns when so many more grabs have succeeded.
func (c *crowd) await(n int) {
	c.t.Helper()
	for patience := time.After(20 * time.Second); n > 0; n-- {
		select {
		case <-c.told:
		case <-c.ctx.Done():
			c.t.Fatal("the crowd has gone")
		case <-patience:
			c.t.Fatalf("%d grabs more are still awaited", n)
		}
	}
}

// wantWhole checks that the pool holds what was told, if it has lost nothing on the way.
func (c *crowd) wantWhole() {
	c.t.Helper()
	c.leave()
	if err := c.pool.Load(context.Background(), c.image); err != nil {
		c.t.Fatal(err)
	}
	for share, user := range c.owners {
		got, err := c.pool.Grab(context.Background(), []redpacket.Attempt{{Ref: c.image.Ref, User: user, May: redpacket.NotMember}})
		if err != nil || got[0].Decision != redpacket.Yours || got[0].Share != share {
			c.t.Fatalf("%s was told share %d: now %+v %v", user, share, got, err)
		}
	}
}
