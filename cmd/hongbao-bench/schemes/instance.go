package schemes

import (
	"context"
	"errors"
	"io"
	"sync"
)

// Instance is one process of a scheme: what it does beside its answers is running.
type Instance struct {
	Scheme

	name  string
	db    *Database
	stop  context.CancelFunc
	ended chan error
	over  sync.Once
}

// Start makes the scheme and has it run until Stop or Kill. It returns when those that listen are listening.
func (n Named) Start(ctx context.Context, e Engines) (*Instance, error) {
	s, err := n.Make(e)
	if err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	i := &Instance{Scheme: s, name: n.Name, db: e.DB, stop: stop, ended: make(chan error, 1)}
	go func() { i.ended <- s.Run(run) }()
	listener, ok := s.(interface{ Ready() <-chan struct{} })
	if !ok {
		return i, nil
	}
	select {
	case <-listener.Ready():
		return i, nil
	case err := <-i.ended:
		stop()
		return nil, errors.Join(err, i.close())
	}
}

// Stop ends it in good order, unless it has been ended.
func (i *Instance) Stop() (err error) {
	i.over.Do(func() {
		i.stop()
		err = errors.Join(<-i.ended, i.close())
	})
	return err
}

// Kill ends it as kill -9 does: what was in its memory is gone, what it had not begun in the database never begins.
func (i *Instance) Kill() {
	i.over.Do(func() {
		i.db.Kill()
		i.stop()
		<-i.ended // with whatever error: nobody is left to hear it
		_ = i.close()
	})
}

func (i *Instance) close() error {
	if c, ok := i.Scheme.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
