package redisstore

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
)

// unavailable wraps a driver's failure with chat.ErrUnavailable.
func unavailable(doing string, err error) error {
	return fmt.Errorf("redis: %s: %w: %w", doing, chat.ErrUnavailable, err)
}

// transient reports whether err says that Redis did not run the call, but may soon run it: during a failover, a
// restart or the move of a cluster slot.
func transient(err error) bool {
	var refused *nodeRefusedError
	if errors.As(err, &refused) {
		return refused.cause == nil
	}
	for _, word := range []string{
		"READONLY", "LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "MOVED", "ASK ", "NOREPLICAS", "UNBLOCKED",
	} {
		if redis.HasErrorPrefix(err, word) {
			return true
		}
	}
	return false
}

// connectionLost reports whether a connection was lost or could not be opened. It is false for a timeout, and for a
// call that was not sent because its node is not found fit.
func connectionLost(err error) bool {
	var answer redis.Error
	var refused *nodeRefusedError
	return !errors.As(err, &answer) && !timedOut(err) && !errors.Is(err, errNotOpen) && !errors.As(err, &refused)
}

// timedOut reports whether a node did not answer in time. A retry would take as long again.
func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() ||
		errors.Is(err, redis.ErrPoolTimeout)
}
