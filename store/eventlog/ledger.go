package eventlog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hongbao/redpacket"
)

// LedgerRow is a transfer with the link of its transaction. In the ledger, links take the place of the rows of the stream. The links of a
// chain are serial. So no link is ever added before a cursor that has one position for each chain. Links are also written when the event
// stream is off.
type LedgerRow struct {
	Link     int64 // unique over all chains
	Transfer redpacket.LedgerTransfer
}

// LinkKey names a link.
type LinkKey struct {
	Chain, ID int64

	At     time.Time // when it was added
	Leaves int64     // the chained rows of its transaction
}

// LinkRows is how much of a link's transaction is visible.
type LinkRows struct {
	Leaves int64 // chained rows
	Moves  int   // entries among them that have a transfer of a send or a refund
}

// young reports whether the rows of the link may become visible only later: see VisibleWithin.
func (l LinkKey) young(now time.Time) bool { return now.Sub(l.At) < VisibleWithin }

// YoungLinks returns the links whose rows may become visible only later.
func YoungLinks(links []LinkKey, now time.Time) []LinkKey {
	return slices.DeleteFunc(slices.Clone(links), func(l LinkKey) bool { return !l.young(now) })
}

// VisibleLinks returns the links before the first young one that lacks rows or transfers. rows are those of the young links, counted before found was
// read.
func VisibleLinks(links []LinkKey, rows map[int64]LinkRows, found []LedgerRow, now time.Time) []LinkKey {
	moves := map[int64]int{}
	for _, row := range found {
		if kind := row.Transfer.Kind; kind == redpacket.TransferSend || kind == redpacket.TransferRefund {
			moves[row.Link]++
		}
	}
	for i, l := range links {
		if has := rows[l.ID]; l.young(now) && (has.Leaves < l.Leaves || moves[l.ID] < has.Moves) {
			return links[:i]
		}
	}
	return links
}

// ReadLedger takes at most limit transfers. found are the transfers of the links. The links are in the order of ids and begin after the
// cursor. ReadLedger returns the cursor after the taken transfers, and whether it has taken all.
func ReadLedger(after Cursor, epoch string, links []LinkKey, found []LedgerRow, limit int) (taken []redpacket.LedgerTransfer, next Cursor, whole bool) {
	of := map[int64][]redpacket.LedgerTransfer{}
	for _, row := range found {
		of[row.Link] = append(of[row.Link], row.Transfer)
	}
	next = after.clone()
	next.Epoch = epoch
	for _, link := range links {
		all := of[link.ID]
		slices.SortFunc(all, func(a, b redpacket.LedgerTransfer) int { // the position inside a link is an index into this order
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.User, b.User), cmp.Compare(a.ID, b.ID))
		})
		skip := 0
		if link.Chain == next.Chain && link.ID == next.ID {
			skip = min(next.N, len(all))
		}
		room := limit - len(taken)
		if part := all[skip:]; len(part) > room {
			next.Chain, next.ID, next.N = link.Chain, link.ID, skip+room
			return append(taken, part[:room]...), next, false
		}
		taken = append(taken, all[skip:]...)
		next.Read[link.Chain] = link.ID
		if link.Chain == next.Chain && link.ID == next.ID {
			next.Chain, next.ID, next.N = 0, 0, 0
		}
	}
	return taken, next, true
}

// ledgerPrefix begins the text of a cursor of the ledger, so that it is not taken for one of the event stream.
const ledgerPrefix = "L"

// LedgerCursor returns a cursor of the ledger as opaque text.
func LedgerCursor(c Cursor) string { return ledgerPrefix + c.String() }

// ParseLedgerCursor returns the cursor of a text that LedgerCursor has returned. The empty text is before all transfers. Clients can send
// any text. For one that has not the form of a cursor, ParseLedgerCursor returns redpacket.ErrLedgerCursor.
func ParseLedgerCursor(text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	text, ok := strings.CutPrefix(text, ledgerPrefix)
	if !ok {
		return Cursor{}, redpacket.ErrLedgerCursor
	}
	c, err := ParseCursor(text)
	if err != nil {
		return Cursor{}, redpacket.ErrLedgerCursor
	}
	return c, nil
}
