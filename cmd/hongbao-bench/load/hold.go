package load

import (
	"context"
	"fmt"
)

// Hold connects the users of a plan, runs the plan, and then keeps the sockets open until during returns.
func Hold(ctx context.Context, t *Target, p Plan, during func() error) error {
	s, err := p.scenario()
	if err != nil {
		return err
	}
	c, err := newGroup(t, p)
	if err != nil {
		return err
	}
	defer c.endAll()
	if err := s.prepare(ctx, c); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	if err := c.connectAll(ctx); err != nil {
		return err
	}
	if err := s.play(ctx, c); err != nil {
		return err
	}
	if err := during(); err != nil {
		return err
	}
	if lost := c.runStats.lost.Load(); lost > 0 {
		return fmt.Errorf("%d connections were lost", lost)
	}
	return nil
}
