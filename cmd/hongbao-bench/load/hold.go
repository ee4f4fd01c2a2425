package load

import (
	"context"
	"fmt"
)

// Hold has the users of a plan come and do what it says, and stay while something else is looked at.
func Hold(ctx context.Context, t *Target, p Plan, during func() error) error {
	s, err := p.scenario()
	if err != nil {
		return err
	}
	c, err := assemble(t, p)
	if err != nil {
		return err
	}
	defer c.dismiss()
	if err := s.prepare(ctx, c); err != nil {
		return fmt.Errorf("make ready: %w", err)
	}
	if err := c.come(ctx); err != nil {
		return err
	}
	if err := s.play(ctx, c); err != nil {
		return err
	}
	if err := during(); err != nil {
		return err
	}
	if lost := c.board.lost.Load(); lost > 0 {
		return fmt.Errorf("%d connections were lost", lost)
	}
	return nil
}
