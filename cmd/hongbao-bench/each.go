package main

import (
	"context"
	"errors"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
)

// each calls do for every item, up to 32 at a time. After an error it begins no more items, and returns the error. It also
// returns an error if there is still work after 5 minutes.
func each[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	r, err := measure.Crowd{Callers: 32, Budget: 5 * time.Minute}.Call(ctx, func(ctx context.Context, i int) (bool, error) {
		if i >= len(all) {
			return false, nil
		}
		return true, do(ctx, all[i])
	})
	if err == nil && r.Done < len(all) {
		err = errors.New("preparation took longer than 5 minutes: this machine is too slow")
	}
	return err
}
