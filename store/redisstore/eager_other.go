//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package redisstore

import (
	"context"
	"net"
)

// dialEager dials as anyone does, where a socket cannot be read without waiting.
var dialEager func(ctx context.Context, network, addr string) (net.Conn, error)
