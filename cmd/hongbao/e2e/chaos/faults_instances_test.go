package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"
)

// killInstances kills some instances at once, and starts them again after a moment.
func killInstances(count int) func(context.Context, *world, *rand.Rand) error {
	return func(ctx context.Context, w *world, dice *rand.Rand) error {
		var killed []*instance
		for _, n := range dice.Perm(instances)[:count] {
			killed = append(killed, w.instances[n])
		}
		for _, i := range killed {
			i.dead.Store(true)
			_ = i.current().Signal(syscall.SIGKILL) // it may have ended
		}
		for _, i := range killed {
			i.current().Kill()
		}
		_ = pause(ctx, between(dice, 200*time.Millisecond, 3*time.Second)) // they are started in any case
		return restartAll(ctx, killed)
	}
}

func restartAll(ctx context.Context, list []*instance) error {
	failed := make([]error, len(list))
	var all sync.WaitGroup
	for n, i := range list {
		all.Go(func() { failed[n] = i.restart(ctx) })
	}
	all.Wait()
	return errors.Join(failed...)
}

func freezeInstance(ctx context.Context, w *world, dice *rand.Rand) error {
	s := w.instanceAt(dice).current()
	if err := s.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err := pause(ctx, between(dice, time.Second, 6*time.Second))
	return errors.Join(err, s.Signal(syscall.SIGCONT))
}

func stopInstance(ctx context.Context, w *world, dice *rand.Rand) error {
	i := w.instanceAt(dice)
	if err := i.stopInOrder(); err != nil {
		return err
	}
	return i.restart(ctx)
}

// stopInOrder ends the instance with SIGTERM.
func (i *instance) stopInOrder() error {
	s := i.current()
	i.dead.Store(true)
	if err := s.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.Exited():
		return nil
	case <-time.After(30 * time.Second):
		s.Kill()
		return errors.New("an instance did not end within 30 s of SIGTERM")
	}
}

// restartWithoutRedis stops all instances, and starts them while Redis is away. Redis comes back empty.
func restartWithoutRedis(ctx context.Context, w *world, dice *rand.Rand) error {
	var all sync.WaitGroup
	failed := make([]error, instances)
	for n, i := range w.instances {
		all.Go(func() { failed[n] = i.stopInOrder() })
	}
	all.Wait()
	w.movingRedis.Lock()
	defer w.movingRedis.Unlock()
	w.redis.Kill()
	err := errors.Join(errors.Join(failed...), w.forgetFile(), restartAll(ctx, w.instances[:]))
	_ = pause(ctx, between(dice, 500*time.Millisecond, 3*time.Second)) // Redis is started in any case
	return errors.Join(err, w.redis.Restart(context.WithoutCancel(ctx)))
}
