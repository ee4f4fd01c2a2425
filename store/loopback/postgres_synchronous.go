package loopback

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// SetSynchronous makes each commit wait until the standby has it on disk. It returns when that is in effect. If standby is
// nil, commits wait for no standby any more. That takes effect soon after the call has returned.
func (p *Postgres) SetSynchronous(ctx context.Context, standby *Postgres) error {
	name := ""
	if standby != nil {
		name = fmt.Sprintf("standby_%d", standby.port.number)
		if err := standby.setName(ctx, name); err != nil {
			return err
		}
		if err := p.awaitFollower(ctx, "application_name = '"+name+"'"); err != nil {
			return err
		}
	}
	if err := p.set(ctx, "synchronous_standby_names", name); err != nil || standby == nil {
		return err
	}
	if err := p.awaitFollower(ctx, "application_name = '"+name+"' and sync_state = 'sync'"); err != nil {
		return err
	}
	// The process that sends to the standby knows the setting now. But commits wait only after the checkpointer has read it, too, and it does that before
	// a checkpoint.
	return p.exec(ctx, "checkpoint")
}

// setName changes the name that the standby tells its primary.
func (p *Postgres) setName(ctx context.Context, name string) error {
	var primary string
	if err := p.queryRow(ctx, "show primary_conninfo", &primary); err != nil {
		return err
	}
	primary, _, _ = strings.Cut(primary, " application_name=")
	return p.set(ctx, "primary_conninfo", primary+" application_name="+name)
}

// set changes a setting, for the running server and its later starts.
func (p *Postgres) set(ctx context.Context, setting, value string) error {
	quoted := "'" + strings.ReplaceAll(value, "'", "''") + "'" // ALTER SYSTEM takes no parameters
	if err := p.exec(ctx, "alter system set "+setting+" = "+quoted); err != nil {
		return err
	}
	return p.exec(ctx, "select pg_reload_conf()")
}

// awaitFollower waits until pg_stat_replication has a streaming standby that meets the condition.
func (p *Postgres) awaitFollower(ctx context.Context, condition string) error {
	return waitUntil(ctx, p.current(), func(ctx context.Context) error {
		var follows bool
		err := p.queryRow(ctx, "select count(*) > 0 from pg_stat_replication where state = 'streaming' and "+condition, &follows)
		if err == nil && !follows {
			err = errors.New("no standby follows with " + condition)
		}
		return err
	})
}
