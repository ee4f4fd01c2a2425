package sdk

import (
	"errors"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// sdk is an SDK with one of its encodings. The scenarios use only these methods, so that another SDK can be added.
type sdk interface {
	// prepare does slow work before the first client is opened: tokens of scenarios are valid for seconds.
	prepare()
	// open starts to connect a client, and records all its events in the log until the test ends.
	open(o options, log *eventLog) client
	// reconnectsAfterTooBig reports whether a client reconnects after it sent a frame that is too large.
	reconnectsAfterTooBig() bool
}

// timeout is the SDK's timeout of requests, for busy machines. Pings time out after twice as long: the server must notice a
// missing pong first.
const timeout = 20 * time.Second

// options are what a client is made with.
type options struct {
	server  *e2e.Server
	token   string
	refresh func() (token string, err error) // called when the token has expired; nil: the SDK has no callback
}

// errNoToken is returned by a refresh when the user may no longer connect.
var errNoToken = errors.New("the application gives this user no more tokens")

// client is one client of an SDK.
type client interface {
	// call sends a command once. The error is a wire.Error as the SDK shows it, or says that no answer came.
	call(method, request string) (reply []byte, err error)
	// flood sends commands as fast as it can, until this number of them was refused or one was not answered. It
	// returns the error of each.
	flood(method, request string, refusals int) []error
	// send sends data that has no reply.
	send(data string) error
	// native sends one of the envelope's own commands, which clients of rooms do not need, and returns the refusal.
	native(command, channel string) wire.Error
	// stall stops reading until resume is called.
	stall() (resume func())
}
