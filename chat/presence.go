package chat

import (
	"context"
	"time"
)

// Presence knows which users have a socket, on whatever instance. What an instance has noted is forgotten within
// PresenceLease of its death; what the engine has forgotten, each instance notes again within the same time.
type Presence interface {
	// Enter notes a socket of the user. When he has more than most it returns those that have to go, the oldest
	// first, and forgets them. The same socket again changes nothing. first: he had none before.
	Enter(ctx context.Context, user, socket string, most int) (out []string, first bool, err error)
	// Leave forgets a socket. One that is not there is forgotten already. last: he had this one, and now none.
	Leave(ctx context.Context, user, socket string) (last bool, err error)
	// Online tells which of the users have a socket, in the order asked.
	Online(ctx context.Context, users []string) ([]bool, error)
	// Run keeps this instance's sockets noted until ctx is done, and then forgets them.
	Run(ctx context.Context) error
}

// PresenceLease is how long a dead instance's sockets may still count.
const PresenceLease = 30 * time.Second

// Limiter keeps rates over all instances.
type Limiter interface {
	// Take spends a token of the key. When there is none it spends nothing and says how long to wait for one.
	Take(ctx context.Context, key string, r Rate) (wait time.Duration, err error)
}

// Rate is a bucket of Burst tokens that fills at PerSecond.
type Rate struct {
	PerSecond float64
	Burst     int
}
