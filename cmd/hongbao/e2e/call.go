package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/centrifugal/centrifuge-go"
)

// Try sends a command once. The error is the server's *centrifuge.Error, or says that no answer came.
func Try[Reply any](ctx context.Context, c *Client, method string, request any) (reply Reply, err error) {
	result, err := RPC(ctx, c.Client, method, []byte(JSON(request)))
	if err == nil {
		err = json.Unmarshal(result.Data, &reply)
	}
	return reply, err
}

// RPC calls c.RPC and returns its result, or an error when ctx ends or after 20 s. The SDK's own RPC sometimes never returns when
// the socket breaks.
func RPC(ctx context.Context, c *centrifuge.Client, method string, data []byte) (centrifuge.RPCResult, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	type outcome struct {
		result centrifuge.RPCResult
		err    error
	}
	ended := make(chan outcome, 1)
	go func() {
		result, err := c.RPC(ctx, method, data)
		ended <- outcome{result, err}
	}()
	select {
	case o := <-ended:
		return o.result, o.err
	case <-ctx.Done():
		return centrifuge.RPCResult{}, ctx.Err()
	}
}

// Call sends a command, and repeats it for 40 s while no answer comes or the answer is a temporary error. Any other error
// fails the test.
func Call[Reply any](c *Client, method string, request any) Reply {
	c.t.Helper()
	return CallWithin[Reply](c, 40*time.Second, method, request)
}

// CallWithin is Call with another time limit than 40 s.
func CallWithin[Reply any](c *Client, limit time.Duration, method string, request any) Reply {
	c.t.Helper()
	var reply Reply
	var err error
	Eventually(c.t, limit, c.User.Name+": "+method+" is answered, and not with a temporary error", func() bool {
		reply, err = Try[Reply](context.Background(), c, method, request)
		var refused *centrifuge.Error
		return err == nil || errors.As(err, &refused) && !refused.Temporary
	})
	if err != nil {
		c.t.Fatalf("%s: %s %s: got error %v, want success", c.User.Name, method, JSON(request), err)
	}
	return reply
}
