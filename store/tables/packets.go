package tables

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/cursor"
	"hongbao/store/secret"
)

// packetColumns are the columns of packets p that make up a redpacket.Packet, and two that say how to read the passphrase.
const packetColumns = `p.id, p.partition, p.room_id, p.sender, p.sender_name, p.sender_avatar, p.mode, p.spread,
	p.total, p.count, p.greeting, p.recipients, p.passphrase, p.created_at, p.expires_at, p.commitment, p.key, p.seq, p.earlier_members, p.one_per_person, p.skin,
	p.opens_at, p.held, p.held_until, p.window_s, p.rest, p.waves, p.max_wins, p.status = 'open', octet_length(p.encrypted_seed) > 0`

// storedPacket scans packetColumns.
type storedPacket struct {
	packet          redpacket.Packet
	opensAt         int64
	held            string
	heldUntil       int64
	windowS         int
	open, encrypted bool
}

// Into returns the destinations of packetColumns.
func (s *storedPacket) Into(d Dialect) []any {
	p := &s.packet
	return []any{
		&p.ID, &p.Partition, &p.Room, &p.From.ID, &p.From.Name, &p.From.Avatar, &p.Mode, &p.Spread,
		&p.Total, &p.Count, &p.Greeting, d.Array(&p.To), &p.Passphrase, Time(&p.CreatedAt), Time(&p.ExpiresAt),
		&p.Commitment, &p.Key, &p.Seq, &p.EarlierMembers, &p.OnePerPerson, &p.Skin, &s.opensAt, &s.held, &s.heldUntil, &s.windowS, &p.Rest, &p.Rain.Waves, &p.Rain.MaxWins, &s.open, &s.encrypted,
	}
}

// Packet returns the packet as it was sent. An empty list of recipients becomes nil. It fails if the passphrase cannot be
// decrypted. There is one exception: if a closed packet's key is gone, the passphrase stays encrypted.
func (s *storedPacket) Packet(keys *secret.Keys) (p redpacket.Packet, err error) {
	p = s.packet
	p.Window = time.Duration(s.windowS) * time.Second
	p.OpensAt = optional(s.opensAt)
	if p.Hold, err = redpacket.ParseHold(s.held, Millis(s.heldUntil)); err != nil {
		return p, err
	}
	if len(p.To) == 0 {
		p.To = nil
	}
	if s.encrypted {
		p.Passphrase, err = keys.Passphrase(p.ID, p.Passphrase, s.open)
	}
	return p, err
}

// optional returns the time of a column in which 0 stands for none: the zero time.
func optional(at int64) (t time.Time) {
	if at != 0 {
		t = Millis(at)
	}
	return t
}

// ReadPacket reads a packet, or returns chat.ErrNotFound.
func ReadPacket(q Querier, id string) (redpacket.Packet, error) {
	return one(q, func(row Row) (p redpacket.Packet, err error) {
		var stored storedPacket
		if err := row.Scan(stored.Into(q)...); err != nil {
			return p, err
		}
		return stored.Packet(q.Keys())
	}, `select `+packetColumns+` from packets p where p.id = $1 /*! and p.bucket = bucket_of($1) */`, id)
}

// Packet implements redpacket.Ledger.
func (t Tables) Packet(ctx context.Context, id string) (redpacket.Packet, error) {
	if !t.db.Storable(id) {
		return redpacket.Packet{}, chat.ErrNotFound
	}
	return read(ctx, t.db, "read packet", func(q Querier) (redpacket.Packet, error) { return ReadPacket(q, id) })
}

// Overdue implements redpacket.Ledger.
func (t Tables) Overdue(ctx context.Context, before time.Time, after redpacket.Overdue, limit int) ([]redpacket.Overdue, error) {
	return list(ctx, t.db, "list overdue packets", into(func(o *redpacket.Overdue) []any {
		return []any{&o.ID, &o.Partition, Time(&o.ExpiresAt)}
	}), `select id, partition, expires_at from packets
		where status = 'open' and expires_at < $1 and (expires_at, id) > ($2, $3) order by expires_at, id limit $4`,
		before.UnixMilli(), after.ExpiresAt.UnixMilli(), after.ID, limit)
}

// paidColumns returns the columns of the claim c and its user u that ScanPaid scans. The user's name is
// the present one, not that at the time of the claim.
func paidColumns(c, u string) string {
	return fmt.Sprintf(`%[1]s.share_no, %[1]s.wave, %[1]s.amount, %[1]s.at, %[1]s.user_id, %[2]s.name, %[2]s.avatar`, c, u)
}

// ScanPaid scans paidColumns. The row must have a claim.
func ScanPaid(row Row) (redpacket.Paid, error) {
	var s storedPaid
	if err := row.Scan(s.into()...); err != nil {
		return redpacket.Paid{}, err
	}
	return *s.paid(), nil
}

// storedPaid scans a claim, or nulls from an outer join.
type storedPaid struct {
	share, wave        sql.NullInt64
	amount, at         sql.NullInt64
	user, name, avatar sql.NullString
}

func (s *storedPaid) into() []any {
	return []any{&s.share, &s.wave, &s.amount, &s.at, &s.user, &s.name, &s.avatar}
}

func (s *storedPaid) paid() *redpacket.Paid {
	if !s.share.Valid {
		return nil
	}
	p := &redpacket.Paid{Share: int(s.share.Int64), Wave: int(s.wave.Int64), Amount: redpacket.Money(s.amount.Int64), At: Millis(s.at.Int64)}
	p.User.ID, p.User.Name, p.User.Avatar = s.user.String, s.name.String, s.avatar.String
	return p
}

// CutColumns are the columns of packets p that say how the packet is cut.
const CutColumns = `p.seed, p.encrypted_seed, p.shares, p.window_s > 0, p.parts`

// CutInto returns the destinations of CutColumns.
func CutInto(d Dialect, c *secret.Columns) []any {
	return []any{&c.Seed, &c.EncryptedSeed, d.Array(&c.Shares), &c.Draw, &c.Parts}
}

// stateColumns and stateJoins make up the state of packets p as the user $1 sees it. The alias m is the user's own
// claim. l is the luckiest claim, which is marked only when the packet is closed. The statement must begin with
// stateTables.
var stateColumns = `p.id, p.status, p.refunded,
	case when p.status = 'open' then /*one*/ (select count(*) from claims where packet_id = p.id) /*end*/ /*! coalesce((select n from n where n.packet_id = p.id), 0) */
		else p.claimed end, p.window_s > 0, p.participants, p.root, p.waves > 0, p.waves_drawn, ` +
	paidColumns("m", "mu") + `, ` + paidColumns("l", "lu")

// stateTables returns the beginning of a statement with stateJoins. On Citus it first reads the packets that meet the
// condition packets, and what the joins need of them: see FirstOnCitus. bucket is a condition that names the buckets of
// these packets, or "true".
func stateTables(bucket, packets string) string { return FirstOnCitus(stateParts(bucket, packets)...) }

func stateParts(bucket, packets string) []string {
	return []string{
		Of("p", "packets p", bucket+` and `+packets), Of("c", "claims", bucket+` and packet_id in (select id from p) and (user_id = $1 or luckiest)`),
		`n as materialized (select packet_id, count(*) as n from claims
			where ` + bucket + ` and packet_id in (select id from p where status = 'open') group by packet_id)`,
	}
}

// stateJoins is described at stateColumns.
func stateJoins(d Dialect) string {
	return `
		left join ` + Named("claims", "c") + ` m on m.packet_id = p.id and m.user_id = $1 and m.wave = 0 left join users mu on mu.id = m.user_id
		left join ` + Named("claims", "c") + ` l on l.packet_id = p.id and ` + d.Is(`l.luckiest`, true) + ` left join users lu on lu.id = l.user_id `
}

// storedState scans stateColumns.
type storedState struct {
	state          redpacket.State
	isDraw, isRain bool
	draw           redpacket.DrawState
	rain           redpacket.RainState
	mine, luckiest storedPaid
}

// Into returns the destinations of stateColumns.
func (s *storedState) Into() []any {
	return slices.Concat([]any{&s.state.Packet, &s.state.Status, &s.state.Refunded, &s.state.Claimed, &s.isDraw, &s.draw.Participants, &s.draw.Root, &s.isRain, &s.rain.Drawn}, s.mine.into(), s.luckiest.into())
}

// State returns the state of the packet. Call it after the scan.
func (s *storedState) State() redpacket.State {
	s.state.Mine, s.state.Luckiest = s.mine.paid(), s.luckiest.paid()
	if s.isDraw {
		s.state.Draw = &s.draw
	}
	if s.isRain {
		s.state.Rain = &s.rain
	}
	return s.state
}

// States implements redpacket.Ledger.
func (t Tables) States(ctx context.Context, user string, packets []string) ([]redpacket.State, error) {
	packets = slices.DeleteFunc(slices.Clone(packets), func(id string) bool { return !t.db.Storable(id) })
	return read(ctx, t.db, "read states", func(q Querier) ([]redpacket.State, error) {
		states, err := List(q, func(row Row) (redpacket.State, error) {
			var s storedState
			err := row.Scan(s.Into()...)
			return s.State(), err
		}, stateTables(`bucket = any(buckets_of($2::text[]))`, `id = any($2::text[])`)+`select `+stateColumns+`
			from `+q.InOrder(2)+` asked cross join /*one*/ packets /*end*/ p`+stateJoins(q)+`
			where p.id = asked.value order by asked.n`, user, q.List(packets))
		if err != nil {
			return nil, err
		}
		return states, addDraws(q, user, pointers(states)...)
	})
}

// pointers returns the addresses of the elements.
func pointers[T any](all []T) []*T {
	found := make([]*T, len(all))
	for i := range all {
		found[i] = &all[i]
	}
	return found
}

// listedPackets describes in SQL the packets of one list: the table that has its rows in order, the condition for the user or room, and
// the sort key, which is At and then ID. Of is the left side of the condition. The period of the query is about At. ByID says that the index has
// ID alone, by which the rows are in the same order.
type listedPackets struct {
	Table, Alias string
	Of, At, ID   string
	ByID         bool
	Join         string                     // makes packets p of the rows, if they are of another table
	Totals       func(Dialect) string       // the statement for count, amount and luckiest of a period; nil: none
	Citus        func(page string) []string // parts for FirstOnCitus; page: condition, order and limit of a page
}

// packetLists has the list for each direction.
var packetLists = map[redpacket.Direction]listedPackets{
	redpacket.DirSent: {
		Table: `packets`, Alias: `p`, Of: `sender`, At: `created_at`, ID: `id`, Citus: packetsOnCitus,
		Totals: func(Dialect) string {
			return `select count(*), cast(coalesce(sum(total - refunded), 0) as bigint), cast(0 as bigint)
				from packets where sender = $1 and created_at >= $2 and created_at < $3`
		},
	},
	redpacket.DirRoom: {Table: `packets`, Alias: `p`, Of: `room_id`, At: `created_at`, ID: `id`, Citus: packetsOnCitus},
	redpacket.DirOpen: {Table: `packets`, Alias: `p`, Of: `status = 'open' and room_id`, At: `created_at`, ID: `id`, ByID: true, Citus: packetsOnCitus},
	redpacket.DirReceived: {
		Table: `transfers`, Alias: `t`, Of: `kind = 'claim' and user_id`, At: `at`, ID: `packet_id`,
		Join: ` join /*one*/ claims /*end*/ c on c.packet_id = t.packet_id and c.share_no = t.share_no
			join /*one*/ packets /*end*/ p on p.id = t.packet_id`,
		Totals: func(d Dialect) string { // all of it stands in indexes: a user may have won very often
			return `with won as (
					select count(*) as n, cast(coalesce(sum(amount), 0) as bigint) as amount from transfers
					where kind = 'claim' and user_id = $1 /*! and bucket = bucket_of($1) */ and at >= $2 and at < $3
				), best as (
					select count(*) as n from claims where ` + d.Is(`luckiest`, true) + ` and user_id = $1 and at >= $2 and at < $3
				) select won.n, won.amount, best.n from won cross join best`
		},
		Citus: func(page string) []string {
			return append([]string{Of("t", "transfers", `bucket = bucket_of($1) and `+page)}, stateParts(`true`, `id in (select packet_id from t)`)...)
		},
	},
}

func packetsOnCitus(page string) []string { return stateParts(`true`, page) }

// packetsPage returns the statements for a page of packets: one for its totals, if the list has any, and one for the packets themselves,
// whose rows scanPacket scans. Both must see one snapshot. The second reads one packet more than the limit, for
// onePage. It selects the page before it joins anything: otherwise, for a user with many more packets than most, Postgres would join all of
// them. packetsPage fails if q.Next is no cursor.
func packetsPage(d Dialect, q redpacket.PacketsQuery) (totals, page Statement, err error) {
	if q.Direction == redpacket.DirWaiting {
		return Statement{}, Statement{Text: waitingPackets(d), Args: []any{q.Of, q.Limit}}, nil
	}
	at, id := int64(math.MaxInt64), ""
	if q.Next != "" {
		if err := cursor.Parse(string(q.Direction), q.Next, &at, &id); err != nil {
			return Statement{}, Statement{}, err
		}
	}
	list := packetLists[q.Direction]
	args := []any{q.User(), millisOr(q.From, math.MinInt64), millisOr(q.To, math.MaxInt64), at, id, q.Limit + 1}
	if list.Totals != nil {
		totals = Statement{Text: list.Totals(d), Args: args[:3:3]}
	}
	of := `$1`
	if q.User() != q.Of {
		of, args = `$7`, append(args, q.Of)
	}
	order := func(of string) string { return ` order by ` + of + list.At + ` desc, ` + of + list.ID + ` desc` }
	inOrder := order(``)
	if list.ByID {
		inOrder = ` order by ` + list.ID + ` desc`
	}
	rows := list.Of + ` = ` + of + ` and ` + list.At + ` >= $2 and ` + list.At + ` < $3 and (` + list.At + `, ` + list.ID + `) < ($4, $5)` + inOrder + ` limit $6`
	alias, from := list.Alias+`.`, `/*one*/ (select * from `+list.Table+` where `+rows+`) /*end*/ `+list.Alias //nolint:unqueryvet // it stands for the table
	return totals, Statement{
		Text: FirstOnCitus(list.Citus(rows)...) + `select ` + packetColumns + `, ` + stateColumns + `, ` + alias + list.At + `
			from ` + from + list.Join + stateJoins(d) + order(alias),
		Args: args,
	}, nil
}

// waitingPackets returns the statement for the newest $2 packets that wait for the user $1, whose rows scanPacket scans. Of each room it reads
// the newest open packets only, those from the id since on.
func waitingPackets(d Dialect) string {
	const (
		rooms = ` from members m join rooms r on r.id = m.room_id where m.user_id = $1 and m.state = 'in' and r.deleted_at = 0`
		order = ` order by p.created_at desc, p.id desc limit `
	)
	onCitus := append([]string{`mine as materialized (select m.room_id` + rooms + `)`},
		stateParts(`true`, `p.status = 'open' and p.sender <> $1 and p.room_id in (select room_id from mine)`+order+`500`)...)
	//nolint:unqueryvet // the columns of the table
	return FirstOnCitus(onCitus...) + `select ` + packetColumns + `, ` + stateColumns + `, p.created_at
		from /*one*/ (select p.* from (select m.room_id, coalesce((select o.id from packets o
				where o.room_id = m.room_id and o.status = 'open' order by o.id desc limit 1 offset 99), '') as since` + rooms + `) m
			join packets p on p.room_id = m.room_id and p.status = 'open' and p.id >= m.since
			where p.sender <> $1 and not exists (select 1 from claims c where c.packet_id = p.id and c.user_id = $1)` + order + `$2) /*end*/ p` + stateJoins(d) + `
		where m.user_id is null` + order + `$2`
}

// listedPacket is a packet of a list, with the time by which it is sorted.
type listedPacket struct {
	redpacket.PacketState
	at int64
}

// scanPacket returns a function that scans a row of the second statement of packetsPage.
func scanPacket(d Dialect, keys *secret.Keys) func(Row) (listedPacket, error) {
	return func(row Row) (l listedPacket, err error) {
		var (
			stored storedPacket
			state  storedState
		)
		if err := row.Scan(slices.Concat(stored.Into(d), state.Into(), []any{&l.at})...); err != nil {
			return listedPacket{}, err
		}
		l.State = state.State()
		l.Packet, err = stored.Packet(keys)
		return l, err
	}
}

// onePage returns the packets that fit into a page, and the cursor of the next page, or "" if all fit.
func onePage(q redpacket.PacketsQuery, all []listedPacket) (page []redpacket.PacketState, next string) {
	for _, l := range all {
		page = append(page, l.PacketState)
	}
	if fit := redpacket.Fitting(page, q.Limit); fit < len(page) {
		page = page[:fit]
		if q.Direction != redpacket.DirWaiting {
			next = cursor.Make(string(q.Direction), all[fit-1].at, page[fit-1].Packet.ID)
		}
	}
	return page, next
}

func millisOr(t time.Time, unbounded int64) int64 {
	if t.IsZero() {
		return unbounded
	}
	return t.UnixMilli()
}

// Transfers implements redpacket.Ledger.
func (t Tables) Transfers(ctx context.Context, user, next string, limit int) (all []redpacket.LedgerTransfer, more string, err error) {
	at, id := int64(math.MaxInt64), ""
	if next != "" {
		if err := cursor.Parse("transfers", next, &at, &id); err != nil {
			return nil, "", err
		}
	}
	all, err = list(ctx, t.db, "list transfers", func(row Row) (t redpacket.LedgerTransfer, err error) {
		t.User = user
		err = row.Scan(&t.ID, Time(&t.At), &t.Amount, &t.Kind, &t.Packet, &t.Note, &t.Actor, &t.RequestID, &t.Reason)
		return t, err
	}, `select id, at, case when credit = 'user:' || user_id then amount else -amount end, kind, coalesce(packet_id, ''), note, actor, request_id, reason
		from transfers where user_id = $1 /*! and bucket = bucket_of($1) */ and (at, id) < ($2, $3) order by at desc, id desc limit $4`, user, at, id, limit+1)
	if err != nil {
		return nil, "", err
	}
	all, more = pageOf(all, limit, func(last redpacket.LedgerTransfer) string {
		return cursor.Make("transfers", last.At.UnixMilli(), last.ID)
	})
	return all, more, nil
}

// Payout is what a packet pays: the amounts of its shares, and whether only to one user of each person.
type Payout struct {
	Shares       []redpacket.Money
	OnePerPerson bool
}

// ShareCache caches what packets pay, which never changes. Without it, reading a long array for each batch
// would limit the throughput of a hot packet. The amounts are as secret as the seeds. The zero value is ready. It is safe for
// concurrent use.
type ShareCache struct {
	mu   sync.Mutex
	cut  map[string]Payout
	size int // number of shares of all packets
}

// maxCachedShares bounds the cache to 8 MB.
const maxCachedShares = 1 << 20

// Get returns what a packet pays, if it is in the cache.
func (c *ShareCache) Get(packet string) (pays Payout, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pays, ok = c.cut[packet]
	return pays, ok
}

// Cached returns what the packets pay that are in the cache, and the ids of the other packets.
func (c *ShareCache) Cached(packets []string) (cut map[string]Payout, unknown []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cut = make(map[string]Payout, len(packets))
	for _, id := range packets {
		if pays, ok := c.cut[id]; ok {
			cut[id] = pays
		} else {
			unknown = append(unknown, id)
		}
	}
	return cut, unknown
}

// Put adds what a packet pays. If the cache is full, it drops other packets, whichever come first: a hot packet soon returns.
func (c *ShareCache) Put(packet string, pays Payout) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == nil {
		c.cut = map[string]Payout{}
	}
	if _, ok := c.cut[packet]; ok {
		return
	}
	for id, old := range c.cut {
		if c.size+len(pays.Shares) <= maxCachedShares {
			break
		}
		c.size -= len(old.Shares)
		delete(c.cut, id)
	}
	c.cut[packet] = pays
	c.size += len(pays.Shares)
}

// Drop removes a packet that the database does not have, or not any more.
func (c *ShareCache) Drop(packet string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size -= len(c.cut[packet].Shares)
	delete(c.cut, packet)
}

// Clear empties the cache.
func (c *ShareCache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut, c.size = nil, 0
}
