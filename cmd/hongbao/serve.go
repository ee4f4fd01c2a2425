package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"time"

	"hongbao/chat"
	"hongbao/store"
	"hongbao/web/ops/traces"
)

func serveCommand() command {
	return command{name: "serve", summary: "serve clients until stopped", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(ctx context.Context, p *program) error { return p.serve(ctx) }
	}}
}

func (p *program) serve(ctx context.Context) (err error) {
	c := &p.config
	if err := c.checkServe(); err != nil {
		return err
	}
	paceCollections()
	node := chat.NewID(time.Now())
	log := p.log().With("instance", node)
	for _, danger := range c.dangers() {
		log.Warn("the settings are not safe", "danger", danger)
	}
	var l listeners
	if l.certificates, err = c.certificates(nil, log); err != nil {
		return err
	}
	if l.clients, err = listen(ctx, "HONGBAO_ADDR", c.Addr); err != nil {
		return err
	}
	if l.ops, err = listen(ctx, "HONGBAO_OPS_ADDR", c.OpsAddr); err != nil {
		return errors.Join(err, l.clients.Close())
	}
	if err := l.openAPI(ctx, c); err != nil {
		return errors.Join(err, l.clients.Close(), l.ops.Close())
	}
	engines, err := store.Open(ctx, c.engines(), log)
	if errors.Is(err, store.ErrFolderInUse) {
		err = fmt.Errorf("%w\nstop that one, or give this one a folder of its own: HONGBAO_DATA_DIR", err)
	}
	if err != nil {
		return errors.Join(err, l.close())
	}
	var began time.Time // zero until the server serves
	defer func() {
		if err = errors.Join(err, engines.Close()); !began.IsZero() {
			log.Info("stopped", "served", time.Since(began).Round(time.Millisecond).String())
		}
	}()
	defer traces.Start(c.traces, node, build().Version, log)()
	parts, err := wireUp(ctx, *c, node, engines, log)
	if err != nil {
		return errors.Join(err, l.close())
	}
	began = time.Now()
	log.Info("serving", "version", build().Version, "commit", build().Commit, "open", open(l.clients, c.usesTLS()), "ops", open(l.ops, false), "engines", engines.Name, "guests", c.Guests, "tokens", c.tokens(), "limits", c.Limits, "sockets", c.sockets(openFiles()), "traces", c.traces.Endpoint())
	if l.api != nil {
		log.Info("server API", "open", open(l.api, l.apiTLS != nil), "console", open(l.api, l.apiTLS != nil)+"console/", "keys", parts.apiKeys.Names())
	}
	if c.Guests != guestsOff {
		log.Info("second guest, in the same browser", "open", open(l.clients, c.usesTLS())+"?guest=another")
	}
	return parts.run(ctx, l, stopping{c.DrainDelay.Duration, c.Drain.Duration}, log)
}

// openAPI opens the listener of the server API if there is a keys file. The listener uses the clients' certificates, unless only this
// machine can reach it.
func (l *listeners) openAPI(ctx context.Context, c *config) (err error) {
	if c.APIKeysFile == "" {
		return nil
	}
	if local, err := isLocal(c.APIAddr); err == nil && !local {
		l.apiTLS = l.certificates
	}
	l.api, err = listen(ctx, "HONGBAO_API_ADDR", c.APIAddr)
	return err
}

// close closes the listeners that are open.
func (l *listeners) close() (err error) {
	for _, listener := range []net.Listener{l.clients, l.ops, l.api} {
		if listener != nil {
			err = errors.Join(err, listener.Close())
		}
	}
	return err
}
