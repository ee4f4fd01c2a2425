package hub

import (
	"fmt"

	"hongbao/hub/internal/poll"
)

// Pollers returns constructors of the pollers that this operating system has: the best one and the portable one. Where
// they are the same, it returns only one.
func Pollers() []func() poll.Poller {
	reference := func() poll.Poller { return poll.Goroutines{} }
	if fmt.Sprintf("%T", poll.New()) == fmt.Sprintf("%T", reference()) {
		return []func() poll.Poller{reference}
	}
	return []func() poll.Poller{poll.New, reference}
}

// UsePoller makes every hub that is created later use the pollers that the constructor returns.
func UsePoller(poller func() poll.Poller) { newPoller = poller }
