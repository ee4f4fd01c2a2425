package loopback

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Servers get ports below the range that systems use by default for outgoing connections. So while a server is down, no
// connection takes its port by chance. The bus port of a Redis cluster's node is its port + busOffset.
const (
	firstPort = 12_000
	lastPort  = 21_999
	busOffset = 10_000
)

// port is a port number that belongs to one server until it is released.
//
// A UDP socket on the same number reserves it. No server here uses UDP. Other processes with this package respect the
// reservation, and the system releases it when this process dies.
type port struct {
	number       int
	reservations []net.PacketConn
}

// reservePort reserves a free port. With bus it also reserves the bus port that belongs to that port.
func reservePort(ctx context.Context, bus bool) (*port, error) {
	var err error
	for range 200 {
		p := &port{number: firstPort + rand.IntN(lastPort-firstPort+1)}
		if err = p.reserve(ctx, p.number); err == nil && bus {
			err = p.reserve(ctx, p.number+busOffset)
		}
		if err == nil {
			return p, nil
		}
		p.release()
	}
	return nil, errors.Join(errors.New("no free port on 127.0.0.1"), err)
}

func (p *port) reserve(ctx context.Context, number int) error {
	var config net.ListenConfig
	held, err := config.ListenPacket(ctx, "udp", address(number))
	if err != nil {
		return err
	}
	p.reservations = append(p.reservations, held)
	return free(ctx, number)
}

// free returns nil if a server could listen on this port now.
func free(ctx context.Context, number int) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address(number))
	if err != nil {
		return err
	}
	return l.Close()
}

// lost reports whether another process, which ignores reservations, has taken the port before the server could.
func (p *port) lost(ctx context.Context) bool {
	for _, held := range p.reservations {
		if held, ok := held.LocalAddr().(*net.UDPAddr); ok && free(ctx, held.Port) != nil {
			return ctx.Err() == nil
		}
	}
	return false
}

func (p *port) release() {
	for _, held := range p.reservations {
		_ = held.Close() // nothing was written to it
	}
	p.reservations = nil
}

func address(number int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(number)) }
