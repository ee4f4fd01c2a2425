package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// errLost means that no answer came: it may have been done.
var errLost = errors.New("no answer")

// Call sends any command, for those that have no method here. Like every call it is repeated, as it is, while
// the answer is temporary or none comes: give what it makes a key. The error is an *Error, the context's
// with the last answer, or why the client has ended.
func (c *Client) Call(ctx context.Context, method string, request, reply any) error {
	data, err := wire.Marshal(request)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	answer, err := c.ask(ctx, method, data)
	if err == nil {
		err = json.Unmarshal(answer, reply)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// ask sends a command until it is answered.
func (c *Client) ask(ctx context.Context, method string, data []byte) ([]byte, error) {
	lost := false
	for tries := 0; ; tries++ {
		answer, err := c.try(ctx, method, data)
		wait := backoff(tries)
		var refused *Error
		switch {
		case errors.As(err, &refused):
			refused.Repeated = lost
			if !refused.Temporary {
				return nil, err
			}
			lost = lost || !errors.Is(err, ErrRateLimited)
			wait = max(wait, refused.retryAfter())
		case errors.Is(err, errLost):
			lost = true
		default:
			return answer, err
		}
		if end := c.pause(ctx, wait); end != nil {
			return nil, fmt.Errorf("%w after: %w", end, err)
		}
	}
}

// try sends a command once.
func (c *Client) try(ctx context.Context, method string, data []byte) ([]byte, error) {
	sdk, gone, err := c.whenUp(ctx)
	if err != nil {
		return nil, err
	}
	answers := make(chan answer, 1)
	go func() {
		// Without a context: somebody must take what the SDK answers, or a late answer holds up its reader.
		result, err := sdk.RPC(context.Background(), method, data)
		answers <- answer{result.Data, outcome(err)}
	}()
	var forgotten <-chan time.Time
	for {
		select {
		case a := <-answers:
			return a.data, a.err
		case <-gone:
			// The SDK tells all who wait. But a call whose write fails just then it may hold for ever.
			gone, forgotten = nil, time.After(time.Second)
		case <-forgotten:
			return nil, errLost
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ctx.Done():
			return nil, c.Err()
		}
	}
}

type answer struct {
	data []byte
	err  error
}

// outcome translates the SDK's errors: all that are not the server's mean that no answer came.
func outcome(err error) error {
	var refused *centrifuge.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return newError(refused)
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

// whenUp waits until the client is connected. gone is closed when it is not any more.
func (c *Client) whenUp(ctx context.Context) (sdk *centrifuge.Client, gone <-chan struct{}, err error) {
	for {
		c.mu.Lock()
		gone, err, sdk, changed := c.gone, c.err, c.link.sdk, c.changed
		c.mu.Unlock()
		switch {
		case err != nil:
			return nil, nil, err
		case gone != nil:
			return sdk, gone, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// backoff is how long to wait after so many tries, with full jitter.
func backoff(tries int) time.Duration {
	return mathrand.N(min(100*time.Millisecond<<min(tries, 10), 5*time.Second))
}

// pause waits, unless the context is done or the client ends.
func (c *Client) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return c.Err()
	}
}

// newKey draws the key of something that is to be made once.
func newKey() string { return rand.Text() }
