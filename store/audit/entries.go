package audit

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"reflect"

	"hongbao/redpacket"
	"hongbao/store/tables"
)

// jsonObject is the body of an entry, decoded from JSON. Bodies are decoded here and not in SQL, because Postgres
// fails on a text that is not JSON and on JSON with U+0000. A body that is not a JSON object counts as empty.
type jsonObject map[string]any

func parseObject(body string) jsonObject {
	var t jsonObject
	if json.Unmarshal([]byte(body), &t) != nil {
		return nil
	}
	return t
}

// contains reports whether the object has all wanted values. A wanted nil means that the value must be absent or null.
func (t jsonObject) contains(want jsonObject) bool {
	for name, v := range want {
		inner, nested := v.(jsonObject)
		if given, _ := t[name].(map[string]any); nested && !jsonObject(given).contains(inner) || !nested && !reflect.DeepEqual(t[name], v) {
			return false
		}
	}
	return true
}

// number converts an integer to float64, the type of a decoded JSON number. All amounts and times that the server stores fit.
func number[N ~int | ~int64](n N) float64 { return float64(n) }

// storedEntry holds the columns entryFields of an entry. All are null if an outer join has found no entry.
type storedEntry struct {
	sender, key, body sql.NullString
	at                sql.NullInt64
}

func entryFields(e string) string { return e + `.sender, ` + e + `.key, ` + e + `.body, ` + e + `.at` }

func (e *storedEntry) into() []any { return []any{&e.sender, &e.key, &e.body, &e.at} }

// by reports whether the entry exists and has this sender and this time.
func (e *storedEntry) by(sender string, at int64) bool {
	return e.body.Valid && e.sender.String == sender && e.at.Int64 == at
}

// checkEntries compares the packet with its entry and with its packet_done entry.
func (a *auditor) checkEntries(p *auditedPacket) {
	e := &p.entry
	if !e.by(p.From.ID, p.createdAt) || e.key.String != p.Key || !parseObject(e.body.String).contains(jsonObject{
		"id": p.ID, "room": p.Room, "from": jsonObject{"id": p.From.ID}, "key": p.Key,
		"created_at": number(p.createdAt), "expires_at": number(p.expiresAt),
		"mode": string(p.Mode), "spread": string(p.Spread), "total": number(p.Total), "count": number(p.Count),
		"greeting": p.Greeting, "commitment": p.Commitment, "to": p.recipients(), "earlier_members": unlessZero(p.EarlierMembers), "one_per_person": unlessZero(p.OnePerPerson), "skin": unlessZero(string(p.Skin)),
		"opens_at": unlessZero(number(p.opensAt)), "held": unlessZero(number(len(p.Hold.For))), "held_until": unlessZero(number(p.heldUntil)),
	}) || !parseObject(e.body.String).contains(p.drawToTell()) || !p.erased && parseObject(e.body.String)["locked"] != (p.Passphrase != "") {
		a.report("packet", p.ID, "it is not what its entry told the room")
	}
	if !p.doneEntryMatches() {
		a.report("packet", p.ID, "it is %s, which is not what the end of it told the room", p.status)
	}
}

// drawToTell returns what the entry of a draw or rain shows of it. A value of nil is left out.
func (p *auditedPacket) drawToTell() jsonObject {
	window, over, rest := p.windowS, 0, p.Rest
	if p.Rain.Waves != 0 {
		window, over = 0, p.windowS
		if rest == redpacket.RestRefund {
			rest = ""
		}
	}
	return jsonObject{
		"window_s": unlessZero(number(window)), "rest": unlessZero(string(rest)),
		"waves": unlessZero(number(p.Rain.Waves)), "over_s": unlessZero(number(over)), "max_wins": unlessZero(number(p.Rain.MaxWins)),
	}
}

func (p *auditedPacket) doneEntryMatches() bool {
	if p.status == redpacket.Open || !p.doneSeq.Valid || !p.closedAt.Valid {
		return p.status == redpacket.Open && !p.doneSeq.Valid && !p.closedAt.Valid
	}
	state := jsonObject{"packet": p.ID, "status": string(p.status), "claimed": number(p.claimed), "refunded": nil, "luckiest": nil, "draw": nil}
	if p.windowS > 0 {
		state["draw"] = jsonObject{"participants": number(p.participants), "root": p.root}
	}
	if p.refunded != 0 {
		state["refunded"] = number(p.refunded)
	}
	if l := p.luckiest; l != nil {
		state["luckiest"] = jsonObject{"user": l.User.ID, "amount": number(l.Amount), "rank": number(l.Rank())}
	}
	return p.done.by(p.From.ID, p.closedAt.Int64) && parseObject(p.done.body.String).contains(jsonObject{
		"packet": p.ID, "reason": string(p.status), "seed": hex.EncodeToString(p.seed), "state": state,
	})
}

// checkPacketEntries checks that each packet or packet_done entry of the scope belongs to a packet. The query returns an entry
// several times if several packets name it. That is no difference here, because checkEntries reports it.
func (a *auditor) checkPacketEntries() error {
	type entry struct {
		room string
		seq  int64
	}
	var last entry
	found := true
	check := func(next entry) {
		if next != last && !found {
			a.report("room", last.room, "entry %d is about no packet", last.seq)
		}
		found = found && next == last
		last = next
	}
	err := a.Each(func(row tables.Row) error {
		var (
			next       entry
			kind, body string
			packet     sql.NullString
		)
		if err := row.Scan(&next.room, &next.seq, &kind, &body, &packet); err != nil {
			return err
		}
		check(next)
		name := map[string]string{"packet": "id", "packet_done": "packet"}[kind]
		id, _ := parseObject(body)[name].(string)
		found = found || packet.Valid && id == packet.String
		return nil
	}, a.scope.Replace(`select e.room_id, e.seq, e.kind, e.body, p.id
		from {entries} e left join packets p on p.room_id = e.room_id and p.seq = e.seq where e.kind = 'packet'
		union all select e.room_id, e.seq, e.kind, e.body, p.id
		from {entries} e left join packets p on p.room_id = e.room_id and p.done_seq = e.seq where e.kind = 'packet_done'
		order by 1, 2`))
	check(entry{})
	return err
}
