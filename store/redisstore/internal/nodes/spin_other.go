//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package nodes

import (
	"context"
	"net"
)

// dialSpinning is nil where a socket cannot be read without blocking. The driver then uses its own dialer.
var dialSpinning func(ctx context.Context, network, addr string) (net.Conn, error)
