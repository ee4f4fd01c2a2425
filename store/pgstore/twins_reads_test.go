package pgstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hongbao/redpacket"
)

// compare makes every read call on both stores, Postgres and SQLite, and compares the results.
func (h *history) compare() {
	h.Helper()
	ids := []string{"none", "no\x00thing", "no\xffUTF-8"}
	for _, p := range h.packets {
		ids = append(ids, p.ID)
	}
	h.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	ids = append(ids, ids[0])
	for _, id := range ids {
		both(h, "packet", func(ctx context.Context, e engine) (redpacket.Packet, error) { return e.Packet(ctx, id) })
		both(h, "image", func(ctx context.Context, e engine) (redpacket.Image, error) { return e.Image(ctx, id) })
		both(h, "book", func(ctx context.Context, e engine) (redpacket.Book, error) { return e.Book(ctx, id) })
	}
	for _, user := range append(h.users, "stranger") {
		both(h, "states", func(ctx context.Context, e engine) ([]redpacket.State, error) { return e.States(ctx, user, ids) })
		h.lists(user)
		for n, id := range ids {
			q := redpacket.DetailsQuery{User: user, Packet: id, AfterRank: n % 4, Limit: 1 + n%3}
			both(h, "details", func(ctx context.Context, e engine) (redpacket.DetailsPage, error) { return e.Details(ctx, q) })
		}
	}
	for _, user := range h.users {
		both(h, "account", func(ctx context.Context, e engine) (redpacket.Account, error) { return e.Account(ctx, user) })
	}
	for _, o := range h.keys {
		both(h, "key", func(ctx context.Context, e engine) (bool, error) {
			return e.KeyUsed(ctx, o.Packet.From.ID, o.Packet.Key)
		})
	}
	for limit, wait := range []time.Duration{time.Hour - 5*time.Second, time.Hour, 2 * time.Hour} {
		both(h, "overdue", func(ctx context.Context, e engine) ([]redpacket.Overdue, error) {
			first, err := e.Overdue(ctx, h.now.Add(wait), redpacket.Overdue{}, 1+limit)
			if err != nil || len(first) == 0 {
				return first, err
			}
			next, err := e.Overdue(ctx, h.now.Add(wait), first[len(first)-1], 10)
			return append(first, next...), err
		})
	}
	h.compareSecondRoom()
	h.audit()
}

// lists reads all pages of the packets that the user sent and received, and of the user's transfers.
func (h *history) lists(user string) {
	h.Helper()
	from, to, room := h.now.Add(-5*time.Second), h.now.Add(-3*time.Second), "none"
	if len(h.packets) > 0 { // bounds that are exactly the times of packets
		from, to = pick(h, h.packets).CreatedAt, pick(h, h.packets).CreatedAt
		room = pick(h, h.packets).Room
	}
	for _, q := range []redpacket.PacketsQuery{
		{Of: user, Direction: redpacket.DirSent, Limit: 2},
		{Of: user, Direction: redpacket.DirReceived, Limit: 3},
		{Of: user, Direction: redpacket.DirSent, Limit: 1, From: from, To: from.Add(4 * time.Second)},
		{Of: user, Direction: redpacket.DirReceived, Limit: 4, To: to},
		{Of: user, Direction: redpacket.DirSent, Limit: 4, To: to},
		{Of: room, Direction: redpacket.DirRoom, Limit: 3},
		{Of: room, As: user, Direction: redpacket.DirOpen, Limit: 3},
		{Of: user, Direction: redpacket.DirWaiting, Limit: 3},
	} {
		for more := true; more; more = q.Next != "" {
			page := both(h, "packets", func(ctx context.Context, e engine) (redpacket.PacketsPage, error) { return e.Packets(ctx, q) })
			q.Next = page.Next
		}
	}
	both(h, "transfers", func(ctx context.Context, e engine) (all []redpacket.LedgerTransfer, err error) {
		for more := "-"; more != ""; {
			if more == "-" {
				more = ""
			}
			var page []redpacket.LedgerTransfer
			if page, more, err = e.Transfers(ctx, user, more, 3); err != nil {
				return nil, err
			}
			all = append(all, page...)
		}
		return h.comparable(all), nil
	})
}

// comparable replaces the ids that a store draws itself, and sorts transfers of the same time.
func (h *history) comparable(all []redpacket.LedgerTransfer) []redpacket.LedgerTransfer {
	ours := map[string]bool{}
	for _, a := range h.adjusts {
		ours[a.ID] = true
	}
	for i := range all {
		if !ours[all[i].ID] {
			all[i].ID = "drawn"
		}
	}
	slices.SortStableFunc(all, func(a, b redpacket.LedgerTransfer) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Packet, b.Packet), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

func (h *history) audit() {
	h.Helper()
	type audited struct {
		redpacket.Audit
		lines []redpacket.AuditLine
	}
	a := both(h, "audit", func(ctx context.Context, e engine) (a audited, err error) {
		a.Audit, err = e.Audit(ctx, &redpacket.AuditQuery{Show: func(l redpacket.AuditLine) { a.lines = append(a.lines, l) }})
		a.Heads = nil // each engine draws its own
		return a, err
	})
	for _, d := range a.Differences {
		h.Errorf("audit difference: %+v", d)
	}
}
