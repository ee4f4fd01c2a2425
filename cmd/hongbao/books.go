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
	if errors.Is(err, store.ErrNoBooks) {
		return fmt.Errorf("%w\nis HONGBAO_DATA_DIR right? `hongbao serve` or `hongbao migrate` makes a new one there", err)
	}
	if err != nil {
		return err
	}
	return errors.Join(use(books), books.Close())
}
