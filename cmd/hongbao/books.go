package main

import (
	"context"
	"errors"
	"fmt"

	"hongbao/store"
)

// withBooks opens the database that the settings name, calls use, and closes the database. The database must exist.
func (p *program) withBooks(ctx context.Context, use func(*store.Books) error) error {
	books, err := store.OpenBooks(ctx, p.config.engines(), p.log())
	if err != nil {
		return explainNoBooks(err)
	}
	return errors.Join(use(books), books.Close())
}

// withKeyedBooks does the same as withBooks, with the data key.
func (p *program) withKeyedBooks(ctx context.Context, use func(*store.Books) error) error {
	return p.withBooks(ctx, func(books *store.Books) error {
		if err := books.UseDataKey(ctx, p.config.engines(), p.log()); err != nil {
			return err
		}
		return use(books)
	})
}

// explainNoBooks adds to store.ErrNoBooks what the operator can do, and returns any other error as it is.
func explainNoBooks(err error) error {
	if errors.Is(err, store.ErrNoBooks) {
		return fmt.Errorf("%w\nis HONGBAO_DATA_DIR right? `hongbao serve` or `hongbao migrate` makes a new one there", err)
	}
	return err
}
