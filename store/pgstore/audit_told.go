package pgstore

import (
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"hongbao/redpacket"
)

// told is what an entry told its room: the values of JSON as Go reads them. Postgres cannot read a text that may be no
// JSON, and refuses U+0000 in one that is, so all of this is compared here. A body that is no JSON is an empty one.
type told map[string]any

func readTold(body string) told {
	var t told
	if json.Unmarshal([]byte(body), &t) != nil {
		return nil
	}
	return t
}

// holds tells whether everything that is wanted was told; nil is wanted not to be there.
func (t told) holds(want told) bool {
	for name, v := range want {
		inner, nested := v.(told)
		if given, _ := t[name].(map[string]any); nested && !told(given).holds(inner) || !nested && !reflect.DeepEqual(t[name], v) {
			return false
		}
	}
	return true
}

// number is how JSON has an integer. What amounts and times there are fits into one.
func number[N ~int | ~int64](n N) float64 { return float64(n) }

// storedEntry scans entryFields of an entry, or the absence of one in an outer join.
type storedEntry struct {
	sender, key, body pgtype.Text
	at                pgtype.Int8
}

func entryFields(e string) string { return e + `.sender, ` + e + `.key, ` + e + `.body, ` + e + `.at` }

func (e *storedEntry) into() []any { return []any{&e.sender, &e.key, &e.body, &e.at} }

// by tells whether there is such an entry, of this sender and time.
func (e *storedEntry) by(sender string, at int64) bool {
	return e.body.Valid && e.sender.String == sender && e.at.Int64 == at
}

// telling compares the packet with its entry, and with that of its end.
func (a *auditor) telling(p *auditedPacket) {
	e := &p.entry
	if !e.by(p.From.ID, p.createdAt) || e.key.String != p.Key || !readTold(e.body.String).holds(told{
		"id": p.ID, "room": p.Room, "from": told{"id": p.From.ID}, "key": p.Key,
		"created_at": number(p.createdAt), "expires_at": number(p.expiresAt),
		"mode": string(p.Mode), "spread": string(p.Spread), "total": number(p.Total), "count": number(p.Count),
		"greeting": p.Greeting, "commitment": p.Commitment, "locked": p.Passphrase != "", "to": p.recipients(),
	}) {
		a.report("packet", p.ID, "it is not what its entry told the room")
	}
	if !p.endTold() {
		a.report("packet", p.ID, "it is %s, which is not what the end of it told the room", p.status)
	}
}

func (p *auditedPacket) endTold() bool {
	if p.status == redpacket.Open || !p.doneSeq.Valid || !p.closedAt.Valid {
		return p.status == redpacket.Open && !p.doneSeq.Valid && !p.closedAt.Valid
	}
	state := told{"claimed": number(p.claimed), "refunded": nil}
	if p.refunded != 0 {
		state["refunded"] = number(p.refunded)
	}
	return p.done.by(p.From.ID, p.closedAt.Int64) && readTold(p.done.body.String).holds(told{
		"packet": p.ID, "reason": string(p.status), "seed": hex.EncodeToString(p.seed), "state": state,
	})
}

// abouts wants every entry about a packet to be its entry, or that of its end.
func (a *auditor) abouts() error {
	return a.each(`select e.room_id, e.seq, e.kind, e.body, coalesce(p.ids, '{}')
		from entries e left join (
			select room_id, 'packet' as kind, seq, array_agg(id) as ids from packets group by room_id, seq
			union all
			select room_id, 'packet_done', done_seq, array_agg(id) from packets group by room_id, done_seq
		) p using (room_id, kind, seq)
		where e.kind in ('packet', 'packet_done')`, func(rs pgx.Rows) error {
		var (
			room, kind, body string
			seq              int64
			ids              []string
		)
		if err := rs.Scan(&room, &seq, &kind, &body, &ids); err != nil {
			return err
		}
		name := map[string]string{"packet": "id", "packet_done": "packet"}[kind]
		if id, _ := readTold(body)[name].(string); !slices.Contains(ids, id) {
			a.report("room", room, "entry %d is about no packet", seq)
		}
		return nil
	})
}
