package chat

import (
	"context"
	"time"
)

// Presence holds which users have a socket on any instance. The sockets of a dead instance are dropped within
// PresenceLease. If the engine loses its data, each instance enters its sockets again within the same time.
type Presence interface {
	// Enter adds a socket of the user. If the user then has more than most sockets, it removes the oldest ones and
	// returns them in out. A socket that is there already changes nothing. first reports that the user had no socket
	// before.
	Enter(ctx context.Context, user, socket string, most int) (out []string, first bool, err error)
	// Leave removes a socket of the user. A socket that is not there is no error. last reports that the socket was
	// there and the user has no other.
	Leave(ctx context.Context, user, socket string) (last bool, err error)
	// Online reports for each of the users, in the same order, whether the user has a socket.
	Online(ctx context.Context, users []string) ([]bool, error)
	// Run renews the entries of this instance's sockets until ctx is done, and then removes them.
	Run(ctx context.Context) error
}

// PresenceLease is how long sockets of a dead instance may still count.
const PresenceLease = 30 * time.Second
