package loopback

import (
	"net"
	"strings"
	"testing"
)

func TestMissingProgramNamesTheCommandThatInstallsIt(t *testing.T) {
	_, err := program("no-such-server")
	if err == nil || !strings.Contains(err.Error(), "no-such-server") || !strings.Contains(err.Error(), install) {
		t.Error(err)
	}
}

func TestNewestPostgresWins(t *testing.T) {
	if a, b := version("/usr/lib/postgresql/9/bin"), version("/usr/lib/postgresql/15/bin"); a != 9 || b != 15 {
		t.Errorf("versions %d and %d", a, b)
	}
}

func TestPortIsKeptWhileItsServerIsDown(t *testing.T) {
	p, err := reservePort(t.Context(), true)
	noError(t, err)
	for _, number := range []int{p.number, p.number + busOffset} {
		other := &port{}
		if err := other.reserve(t.Context(), number); err == nil {
			t.Errorf("port %d was reserved twice", number)
		}
		other.release()
	}
	if p.lost(t.Context()) {
		t.Error("a reservation without a rival is lost")
	}
	l, err := net.Listen("tcp", address(p.number+busOffset))
	noError(t, err)
	if !p.lost(t.Context()) {
		t.Error("a foreign process listens, and the reservation is not lost")
	}
	_ = l.Close()
	p.release()
	again := &port{}
	if err := again.reserve(t.Context(), p.number); err != nil {
		t.Error("a released port:", err)
	}
	again.release()
}

func TestStopGivesThePortFree(t *testing.T) {
	r := startRedisT(t)
	again := &port{}
	defer again.release()
	r.Kill()
	if err := again.reserve(t.Context(), r.port.number); err == nil {
		t.Error("a server that is down lost its port")
	}
	r.Stop()
	if err := again.reserve(t.Context(), r.port.number); err != nil {
		t.Error("a stopped server still has its port:", err)
	}
}

func TestStartTakesAnotherPortWhenSomebodyWasFaster(t *testing.T) {
	var stolen net.Listener
	r := startRedisT(t)
	thief := &Redis{&daemon{
		name: r.name, dir: t.TempDir(), stopSignal: r.stopSignal, ready: r.ready, command: r.command,
		prepare: func(number int) (err error) {
			if stolen == nil {
				if stolen, err = net.Listen("tcp", address(number)); err == nil {
					go hangUp(stolen)
				}
			}
			return err
		},
	}}
	noError(t, thief.launch(t.Context()))
	defer thief.Stop()
	defer stolen.Close()
	if thief.Addr() == stolen.Addr().String() {
		t.Error("two servers listen at", thief.Addr())
	}
}

// hangUp closes each connection to the listener at once.
func hangUp(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = c.Close()
	}
}
