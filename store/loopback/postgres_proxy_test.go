package loopback

import (
	"encoding/binary"
	"net"
	"testing"
)

// message returns a message of the Postgres protocol. With an empty typ it is the first message of a connection.
func message(typ, text string) string {
	return typ + string(binary.BigEndian.AppendUint32(nil, uint32(len(text)+4))) + text
}

func startPostgresProxyT(t *testing.T) (p *PostgresProxy, here, far net.Conn) {
	t.Helper()
	there, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { _ = there.Close() })
	if p, err = StartPostgresProxy(there.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	here, far = dialThrough(t, p.Proxy, there)
	send(t, here, message("", "startup"))
	receive(t, far, message("", "startup"))
	send(t, far, "welcome")
	receive(t, here, "welcome")
	return p, here, far
}

func TestPostgresProxyStopsBetweenMessages(t *testing.T) {
	for _, how := range []Stop{Freeze, Cut} {
		t.Run(string(how), func(t *testing.T) {
			p, here, far := startPostgresProxyT(t)
			stopped := p.StopAfter(2, "begin", how)
			before, both := message("Q", "select 1"), message("Q", "begin")+message("P", "locks")
			send(t, here, before)
			receive(t, far, before)
			send(t, here, both+message("S", "")) // in one write
			receive(t, far, both)
			<-stopped
			if how == Cut {
				endsWithoutMore(t, far)
				return
			}
			losesAll(t, far, here)
			endsWithoutMore(t, far)
		})
	}
}

func TestPostgresProxyStopsInAMessage(t *testing.T) {
	p, here, far := startPostgresProxyT(t)
	stopped := p.StopAfter(1, "begin", Half)
	begin, half := message("Q", "begin"), message("Q", "0123456")
	send(t, here, begin)
	receive(t, far, begin)
	send(t, far, "begun")
	receive(t, here, "begun")
	send(t, here, half)
	receive(t, far, half[:len(half)/2])
	<-stopped
	p.Resume()
	endsWithoutMore(t, far)
}
