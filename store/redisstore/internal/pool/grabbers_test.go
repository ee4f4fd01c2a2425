package pool

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

// grabbers are goroutines that grab shares of one packet until they are stopped, each grab for another user. When the
// packet is missing they load it, as the service does. They remember the granted shares, as SQL would.
type grabbers struct {
	t       *testing.T
	pool    *Pool
	image   redpacket.Image
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	failed atomic.Int64
	users  atomic.Int64

	mu        sync.Mutex
	owners    map[int]string
	succeeded chan struct{} // receives one token for each success, if a receiver is ready
}

const grabberUsers = 5_000

func startGrabbers(t *testing.T, pool *Pool, partition, callers int) *grabbers {
	ctx, stop := context.WithCancel(context.Background())
	c := &grabbers{
		t: t, pool: pool, ctx: ctx, stop: stop, owners: map[int]string{}, succeeded: make(chan struct{}),
		image: redpacket.Image{
			Ref: redpacket.Ref{ID: t.Name() + strconv.FormatInt(time.Now().UnixNano(), 36), Partition: partition}, Count: 2 * grabberUsers,
			Deadline: time.Now().Add(time.Hour), Status: redpacket.Open,
		},
	}
	t.Cleanup(c.halt)
	for range callers {
		c.running.Go(func() {
			for ctx.Err() == nil {
				c.grab("user-" + strconv.Itoa(int(c.users.Add(1)%grabberUsers)))
			}
		})
	}
	return c
}

// halt stops the grabbers and waits for them.
func (c *grabbers) halt() {
	c.stop()
	c.running.Wait()
}

func (c *grabbers) grab(user string) {
	got, err := c.pool.Grab(context.Background(), []redpacket.Attempt{{Ref: c.image.Ref, User: user}})
	switch {
	case errors.Is(err, chat.ErrUnavailable):
		c.failed.Add(1)
	case err != nil:
		c.t.Errorf("want no error but unavailable: %v", err)
		c.stop()
	case got[0].Decision == redpacket.Missing:
		if err := c.pool.Load(context.Background(), c.currentImage()); err != nil && !errors.Is(err, chat.ErrUnavailable) {
			c.t.Errorf("load: %v", err)
		}
	case got[0].Decision != redpacket.Granted && got[0].Decision != redpacket.Yours:
		c.t.Errorf("%s: %+v", user, got[0])
		c.stop()
	default:
		c.record(user, got[0].Share)
	}
}

// record stores a grant as SQL's unique keys would: the first owner of a share stays.
func (c *grabbers) record(user string, share int) {
	c.mu.Lock()
	if _, taken := c.owners[share]; !taken {
		c.owners[share] = user
	}
	c.mu.Unlock()
	select {
	case c.succeeded <- struct{}{}:
	case <-c.ctx.Done():
	default:
	}
}

// currentImage returns the packet's image with the grants that SQL would have.
func (c *grabbers) currentImage() redpacket.Image {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.image
	for share, user := range c.owners {
		i.Grants = append(i.Grants, redpacket.Grant{User: user, Share: share})
	}
	return i
}

// await waits for n more successful grabs.
func (c *grabbers) await(n int) {
	c.t.Helper()
	for deadline := time.After(60 * time.Second); n > 0; n-- {
		select {
		case <-c.succeeded:
		case <-c.ctx.Done():
			c.t.Fatal("the grabbers have stopped")
		case <-deadline:
			c.t.Fatalf("%d more grabs did not succeed in time", n)
		}
	}
}

// wantGrantsHeld stops the grabbers and checks that Redis still holds every granted share.
func (c *grabbers) wantGrantsHeld() {
	c.t.Helper()
	c.halt()
	patient := New(c.pool.nodes.WithPatience(time.Minute), Options{OutboxCap: 1 << 30})
	if err := patient.Load(context.Background(), c.image); err != nil {
		c.t.Fatal(err)
	}
	for share, user := range c.owners {
		got, err := patient.Grab(context.Background(), []redpacket.Attempt{{Ref: c.image.Ref, User: user, May: redpacket.NotMember}})
		if err != nil || got[0].Decision != redpacket.Yours || got[0].Share != share {
			c.t.Fatalf("%s was granted share %d: now %+v %v", user, share, got, err)
		}
	}
}
