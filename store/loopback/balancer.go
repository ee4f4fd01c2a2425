package loopback

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// Balancer is an nginx or HAProxy.
type Balancer struct{ *daemon }

// StartNginx starts an nginx in the folder. conf returns the text of its configuration file, for the port that it must
// listen on.
func StartNginx(ctx context.Context, dir string, conf func(port int) string) (*Balancer, error) {
	return startBalancer(ctx, dir, "nginx", conf, func(program, file string) []string {
		return []string{program, "-p", filepath.Dir(file), "-c", file, "-g", "daemon off; pid nginx.pid;"}
	})
}

// StartHAProxy starts an HAProxy in the folder. conf returns the text of its configuration file, for the port that it must
// listen on.
func StartHAProxy(ctx context.Context, dir string, conf func(port int) string) (*Balancer, error) {
	return startBalancer(ctx, dir, "haproxy", conf, func(program, file string) []string { return []string{program, "-f", file} })
}

func startBalancer(ctx context.Context, dir, name string, conf func(port int) string, command func(program, file string) []string) (*Balancer, error) {
	server, err := program(name)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	if err := as.own(dir); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, name+".conf")
	b := &Balancer{&daemon{name: name, dir: dir, as: as, stopSignal: syscall.SIGTERM, ready: listens}}
	b.prepare = func(port int) error { return os.WriteFile(file, []byte(conf(port)), 0o644) } //nolint:gosec // read as another user
	b.command = func(int) []string { return command(server, file) }
	if err := b.launch(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// listens returns nil when the address accepts connections.
func listens(ctx context.Context, addr string) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return c.Close()
}
