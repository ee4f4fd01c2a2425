package redisstore

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
)

// unavailable wraps a driver's failure, so that callers see one sentinel and logs the whole story.
func unavailable(doing string, err error) error {
	return fmt.Errorf("redis: %s: %w: %w", doing, chat.ErrUnavailable, err)
}

// passing tells of an answer that will be another one soon: a failover, a restart or a slot on its way. What
// was refused so has not been run.
func passing(err error) bool {
	for _, word := range []string{
		"READONLY", "LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "MOVED", "ASK ", "NOREPLICAS", "UNBLOCKED",
	} {
		if redis.HasErrorPrefix(err, word) {
			return true
		}
	}
	return false
}

// broken tells of a connection that was lost or could not be made; not of one that is silent.
func broken(err error) bool {
	var answer redis.Error
	return !errors.As(err, &answer) && !silent(err)
}

// silent tells of a node that did not answer in time: asking again would take as long again.
func silent(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() ||
		errors.Is(err, redis.ErrPoolTimeout)
}
