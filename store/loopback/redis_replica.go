package loopback

import (
	"context"
	"fmt"
	"net"
	"strings"
)

// Follow makes the server a replica of the master at an address, and returns when it has a copy of the master's data. What the server
// had before is lost.
func (r *Redis) Follow(ctx context.Context, master string) error {
	host, port, err := net.SplitHostPort(master)
	if err != nil {
		return err
	}
	if err := r.do(ctx, "replicaof", host, port); err != nil {
		return err
	}
	return waitUntil(ctx, r.current(), r.follows)
}

// Promote makes a replica a master. It keeps its data, and gets another replication id.
func (r *Redis) Promote(ctx context.Context) error { return r.do(ctx, "replicaof", "no", "one") }

// HandOver makes the server a replica of its own replica, which becomes the master. No write is lost. It returns when both have their
// new roles.
func (r *Redis) HandOver(ctx context.Context, replica *Redis) error {
	host, port, err := net.SplitHostPort(replica.Addr())
	if err != nil {
		return err
	}
	if err := r.do(ctx, "failover", "to", host, port); err != nil {
		return err
	}
	if err := replica.AwaitMaster(ctx); err != nil {
		return err
	}
	return waitUntil(ctx, r.current(), r.follows)
}

// AwaitMaster waits until the server is a master.
func (r *Redis) AwaitMaster(ctx context.Context) error {
	return waitUntil(ctx, r.current(), func(ctx context.Context) error {
		is, err := r.IsMaster(ctx)
		if err == nil && !is {
			err = fmt.Errorf("%s is still a replica", r.Addr())
		}
		return err
	})
}

// IsMaster reports whether the server is a master, whatever it was started as.
func (r *Redis) IsMaster(ctx context.Context) (bool, error) {
	c := client(r.Addr())
	defer c.Close() //nolint:errcheck // the reply is known already
	role, err := c.Do(ctx, "role").Slice()
	return err == nil && len(role) > 0 && role[0] == "master", err
}

// follows returns nil when the replica has finished its first copy of the master's data and is connected to the master.
func (r *Redis) follows(ctx context.Context) error {
	c := client(r.Addr())
	defer c.Close() //nolint:errcheck // the reply is known already
	info, err := c.Info(ctx, "replication").Result()
	if err == nil && !strings.Contains(info, "master_link_status:up\r\n") {
		err = fmt.Errorf("%s does not follow its master", r.Addr())
	}
	return err
}

// do sends the server a command without a result.
func (r *Redis) do(ctx context.Context, command ...any) error {
	c := client(r.Addr())
	defer c.Close() //nolint:errcheck // the reply is known already
	return c.Do(ctx, command...).Err()
}
