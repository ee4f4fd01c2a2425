package loopback

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range that the system gives to outgoing connections, so that nobody gets one by
// chance while its server is down. A Redis cluster's bus port is this much above the port of its node.
const (
	firstPort = 12_000
	lastPort  = 21_999
	busOffset = 10_000
)

// port is a number that belongs to one server until it is released.
//
// The claim is a UDP socket on the same number: servers here use none, other processes that start servers with
// this package respect it, and the system gives it free when this process dies.
type port struct {
	number int
	claims []net.PacketConn
}

// claimPort finds a free port, and with bus also the one that goes with it.
func claimPort(ctx context.Context, bus bool) (*port, error) {
	var err error
	for range 200 {
		p := &port{number: firstPort + rand.IntN(lastPort-firstPort+1)}
		if err = p.claim(ctx, p.number); err == nil && bus {
			err = p.claim(ctx, p.number+busOffset)
		}
		if err == nil {
			return p, nil
		}
		p.release()
	}
	return nil, errors.Join(errors.New("no free port on 127.0.0.1"), err)
}

func (p *port) claim(ctx context.Context, number int) error {
	var config net.ListenConfig
	held, err := config.ListenPacket(ctx, "udp", address(number))
	if err != nil {
		return err
	}
	p.claims = append(p.claims, held)
	return free(ctx, number)
}

// free tells whether a server could listen there now.
func free(ctx context.Context, number int) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address(number))
	if err != nil {
		return err
	}
	return l.Close()
}

// lost tells whether somebody who knows nothing of claims took the port before its server could.
func (p *port) lost(ctx context.Context) bool {
	for _, held := range p.claims {
		if held, ok := held.LocalAddr().(*net.UDPAddr); ok && free(ctx, held.Port) != nil {
			return ctx.Err() == nil
		}
	}
	return false
}

func (p *port) release() {
	for _, held := range p.claims {
		_ = held.Close() // nothing was ever written to it
	}
	p.claims = nil
}

func address(number int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(number)) }
