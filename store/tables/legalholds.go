package tables

import (
	"context"

	"hongbao/chat"
	"hongbao/store/cursor"
)

const legalHoldColumns = `kind, id, at, actor, reason`

var scanLegalHold = into(func(h *chat.LegalHold) []any { return []any{&h.Kind, &h.ID, Time(&h.At), &h.Actor, &h.Reason} })

// PutLegalHold implements chat.Store.
func (t Tables) PutLegalHold(ctx context.Context, h chat.LegalHold) (chat.LegalHold, error) {
	return write(ctx, t.db, "put legal hold", func(w Tx, _ chat.LegalHold) (chat.LegalHold, error) {
		known := `select 1 from users where id = $1`
		if h.Kind == chat.HoldRoom {
			known = `select 1 from rooms where id = $1`
		}
		if found, err := w.Row(known, []any{h.ID}, new(int)); err != nil || !found {
			return chat.LegalHold{}, notFound(err)
		}
		if _, err := w.Exec(`insert into legal_holds (`+legalHoldColumns+`) values ($1, $2, $3, $4, $5) on conflict (kind, id) do nothing`,
			h.Kind, h.ID, h.At.UnixMilli(), h.Actor, h.Reason); err != nil {
			return chat.LegalHold{}, err
		}
		return one(w, scanLegalHold, `select `+legalHoldColumns+` from legal_holds where kind = $1 and id = $2`, h.Kind, h.ID)
	})
}

// notFound returns err if it is not nil, else chat.ErrNotFound.
func notFound(err error) error {
	if err == nil {
		err = chat.ErrNotFound
	}
	return err
}

// DropLegalHold implements chat.Store.
func (t Tables) DropLegalHold(ctx context.Context, kind chat.HoldKind, id string) error {
	return exec(ctx, t.db, "drop legal hold", `delete from legal_holds where kind = $1 and id = $2`, kind, id)
}

// LegalHolds implements chat.Store.
func (t Tables) LegalHolds(ctx context.Context, q chat.LegalHoldQuery) (holds []chat.LegalHold, more string, err error) {
	kind, id := "", ""
	if q.Next != "" {
		if err := cursor.Parse("legal holds", q.Next, &kind, &id); err != nil {
			return nil, "", err
		}
	}
	holds, err = list(ctx, t.db, "list legal holds", scanLegalHold, `select `+legalHoldColumns+` from legal_holds
		where (kind, id) > ($1, $2) and (kind = $3 or $3 = '') order by kind, id limit $4`, kind, id, q.Kind, q.Limit+1)
	if err != nil {
		return nil, "", err
	}
	holds, more = pageOf(holds, q.Limit, func(last chat.LegalHold) string { return cursor.Make("legal holds", string(last.Kind), last.ID) })
	return holds, more, nil
}
