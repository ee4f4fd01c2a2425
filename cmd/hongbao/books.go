package main

import (
	"context"
	"errors"
	"fmt"

	"hongbao/store"
)

// withBooks opens the database of the settings, which must exist, and closes it after use.
func (p *program) withBooks(ctx context.Context, use func(*store.Books) error) error {
	books, err := store.OpenBooks(ctx, p.config.engines(), p.log())
	if err != nil {
		return explainNoBooks(err)
	}
	return errors.Join(use(books), books.Close())
}

// explainNoBooks adds to store.ErrNoBooks what to do.
func explainNoBooks(err error) error {
	if errors.Is(err, store.ErrNoBooks) {
		return fmt.Errorf("%w\nis HONGBAO_DATA_DIR right? `hongbao serve` or `hongbao migrate` makes a new one there", err)
	}
	return err
}
