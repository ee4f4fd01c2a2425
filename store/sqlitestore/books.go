package sqlitestore

import (
	"context"

	"hongbao/redpacket"
	"hongbao/store/tables"
)

// Book implements redpacket.Ledger.
func (s *Store) Book(ctx context.Context, packet string) (b redpacket.Book, err error) {
	err = s.view(ctx, func(r reader) error {
		b, err = tables.ReadBook(r, packet)
		return err
	})
	if err != nil {
		return redpacket.Book{}, tables.Outcome("read book", err)
	}
	return b, nil
}
