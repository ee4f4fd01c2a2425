package schemes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Instance stands for one process of a scheme, with its background work running. It runs in this process, with connections of
// its own.
type Instance struct {
	Scheme

	name  string
	db    *Database
	stop  context.CancelFunc
	ended chan error
	over  sync.Once
}

// Start creates the scheme and runs it until Stop or Kill. If the scheme has the method Ready, Start waits until the scheme is ready.
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
		if err == nil {
			err = fmt.Errorf("%s ended before it was ready", n.Name)
		}
		return nil, errors.Join(err, i.close())
	}
}

// Stop ends the instance in good order. After another Stop or a Kill it does nothing.
func (i *Instance) Stop() (err error) {
	i.over.Do(func() {
		i.stop()
		err = errors.Join(<-i.ended, i.close())
	})
	return err
}

// Kill ends the instance much as kill -9 does: its memory is lost, and a statement that has not passed the gate never begins. But
// commands to Redis may still run, for grabs that are in progress.
func (i *Instance) Kill() {
	i.over.Do(func() {
		i.db.Kill()
		i.stop()
		<-i.ended // an error is ignored, as a killed process reports none
		_ = i.close()
	})
}

func (i *Instance) close() error {
	if c, ok := i.Scheme.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
