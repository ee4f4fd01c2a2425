package main

import (
	"errors"
	"time"

	"hongbao/web/wire"
)

// sdk is an SDK of others, as it is, in some program. All that a scenario knows of it stands here, so that another one can
// be put behind the same scenarios.
type sdk interface {
	// ready does what takes long before the first client is opened: tokens may be good for seconds.
	ready()
	// open makes a client that is connecting, and tells the diary all that it hears until the test ends.
	open(o opening, d *diary) socket
	// comesBackFromTooBig tells what becomes of a client that has sent too big a frame.
	comesBackFromTooBig() bool
}

// patience is that of an SDK with a server on a busy machine. With pings it has more, so that the server loses its own first.
const patience = 20 * time.Second

// opening is what a client is made with.
type opening struct {
	at      *node
	token   string
	refresh func() (token string, err error) // asked when the token is over; errNoToken: there will be none
}

// errNoToken is a host's word that the user is to be let in no more.
var errNoToken = errors.New("no token any more")

// socket is one client.
type socket interface {
	// call sends a command once. The error is a wire.Error as the SDK shows it, or says that no answer came.
	call(method, request string) (reply []byte, err error)
	// flood calls as fast as it can, until so many calls are refused or one is not answered, and gives what came of each.
	flood(method, request string, refusals int) []error
	// send sends what has no reply.
	send(data string) error
	// native uses one of the envelope's own commands, which rooms do not need.
	native(command, channel string) wire.Error
	// stall stops reading; resume goes on.
	stall() (resume func())
}
