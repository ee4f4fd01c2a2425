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

// errNoAnswer means that no answer arrived. The server may have executed the command all the same.
var errNoAnswer = errors.New("no answer")

// Call sends any command, for commands that have no method of their own here. It repeats the same request until an
// answer arrives that is not temporary. So a command that creates something needs a key. The error wraps an
// *Error, the error of the context, the reason why the client has ended, or an error of encoding/json. If the context ends
// between two tries, the error also wraps that of the last try.
func (c *Client) Call(ctx context.Context, method string, request, reply any) error {
	data, err := wire.Marshal(request)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	answer, err := c.request(ctx, method, data)
	if err == nil {
		c.updateAccount(method, answer)
		err = json.Unmarshal(answer, reply)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// request sends a command, and repeats it until a final answer arrives.
func (c *Client) request(ctx context.Context, method string, data []byte) ([]byte, error) {
	lost := false
	for tries := 0; ; tries++ {
		answer, err := c.sendOnce(ctx, method, data)
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
		case errors.Is(err, errNoAnswer):
			lost = true
		default:
			return answer, err
		}
		if end := c.pause(ctx, wait); end != nil {
			return nil, fmt.Errorf("%w after: %w", end, err)
		}
	}
}

// sendOnce sends a command once and waits for the answer.
func (c *Client) sendOnce(ctx context.Context, method string, data []byte) ([]byte, error) {
	sdk, gone, err := c.whenUp(ctx)
	if err != nil {
		return nil, err
	}
	answers := make(chan answer, 1)
	go func() {
		// It has no context: this goroutine must receive the answer even if it is late, because otherwise the SDK's
		// reader would block.
		result, err := sdk.RPC(context.Background(), method, data)
		answers <- answer{result.Data, outcome(err)}
	}()
	var forgotten <-chan time.Time
	for {
		select {
		case a := <-answers:
			return a.data, a.err
		case <-gone:
			// The SDK fails all waiting calls. But a call whose write fails at that moment may never return.
			gone, forgotten = nil, time.After(time.Second)
		case <-forgotten:
			return nil, errNoAnswer
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

// outcome translates an error of the SDK. Any error that the server did not send means errNoAnswer.
func outcome(err error) error {
	var refused *centrifuge.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return newError(refused)
	}
	return fmt.Errorf("%w: %w", errNoAnswer, err)
}

// whenUp waits until the client is connected. The channel gone is closed when that connection is lost.
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

// backoff returns the wait before the next try: random, up to a bound that grows with the number of tries.
func backoff(tries int) time.Duration {
	return mathrand.N(min(100*time.Millisecond<<min(tries, 10), 5*time.Second))
}

// pause blocks for d. It returns an error if the context is done or the client ends before.
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

// newKey returns a random key for a command that creates something.
func newKey() string { return rand.Text() }
