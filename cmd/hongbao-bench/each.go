package main

import (
	"context"
	"errors"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
)

// each calls do for all, some at once, and gives the first failure.
func each[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	r, err := measure.Crowd{Callers: 32, Budget: 5 * time.Minute}.Call(ctx, func(ctx context.Context, i int) (bool, error) {
		if i >= len(all) {
			return false, nil
		}
		return true, do(ctx, all[i])
	})
	if err == nil && r.Done < len(all) {
		err = errors.New("this machine is too slow to make it ready")
	}
	return err
}
