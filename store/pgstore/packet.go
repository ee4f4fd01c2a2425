package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/secret"
)

// packetColumns are the columns of packets p that make up a redpacket.Packet, and two that say how to read the passphrase.
const packetColumns = `p.id, p.partition, p.room_id, p.sender, p.sender_name, p.sender_avatar, p.mode, p.spread,
	p.total, p.count, p.greeting, p.recipients, p.passphrase, p.created_at, p.expires_at, p.commitment, p.key, p.seq, p.earlier_members, p.skin,
	p.status = 'open', p.encrypted_seed <> ''`

// storedPacket scans packetColumns.
type storedPacket struct {
	packet          redpacket.Packet
	open, encrypted bool
}

func (s *storedPacket) into() []any {
	p := &s.packet
	return []any{
		&p.ID, &p.Partition, &p.Room, &p.From.ID, &p.From.Name, &p.From.Avatar, &p.Mode, &p.Spread,
		&p.Total, &p.Count, &p.Greeting, &p.To, &p.Passphrase, storedTime{&p.CreatedAt}, storedTime{&p.ExpiresAt},
		&p.Commitment, &p.Key, &p.Seq, &p.EarlierMembers, &p.Skin, &s.open, &s.encrypted,
	}
}

// value returns the packet as it was sent. An empty list of recipients becomes nil.
func (s *storedPacket) value(keys *secret.Keys) (p redpacket.Packet, err error) {
	p = s.packet
	if len(p.To) == 0 {
		p.To = nil
	}
	if s.encrypted {
		p.Passphrase, err = keys.Passphrase(p.ID, p.Passphrase, s.open)
	}
	return p, err
}

// Packet implements redpacket.Ledger.
func (s *Store) Packet(ctx context.Context, id string) (p redpacket.Packet, err error) {
	if !storableID(id) {
		return redpacket.Packet{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		p, err = readPacket(r, id)
		return err
	})
	return p, outcome("read packet", err)
}

func readPacket(q querier, id string) (p redpacket.Packet, err error) {
	var stored storedPacket
	found, err := q.row(`select `+packetColumns+` from packets p where p.id = $1`, []any{id}, stored.into()...)
	switch {
	case err != nil:
		return redpacket.Packet{}, err
	case !found:
		return redpacket.Packet{}, chat.ErrNotFound
	}
	return stored.value(q.secrets())
}

// Image implements redpacket.Ledger. It runs two statements in one round trip, and the second may see later commits
// than the first. Claims are only added, so the image of a closed packet is complete.
func (s *Store) Image(ctx context.Context, id string) (i redpacket.Image, err error) {
	if !storableID(id) {
		return redpacket.Image{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		i = redpacket.Image{}
		b := &pgx.Batch{}
		b.Queue(`select id, partition, count, expires_at, status from packets where id = $1`, id).QueryRow(func(row pgx.Row) error {
			return noRowsOK(row.Scan(&i.ID, &i.Partition, &i.Count, storedTime{&i.Deadline}, &i.Status))
		})
		b.Queue(`select user_id, share_no from claims where packet_id = $1 order by share_no`, id).Query(func(rs pgx.Rows) (err error) {
			i.Grants, err = collect(rs, scanGrant)
			return err
		})
		if err := r.sendBatch(b); err != nil {
			return err
		}
		return foundPacket(i.ID)
	})
	if err != nil {
		return redpacket.Image{}, outcome("read image", err)
	}
	return i, nil
}

// noRowsOK returns nil for pgx.ErrNoRows. As the result of a callback, that error would make the driver discard what
// it has cached about all statements of the batch.
func noRowsOK(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// storableID reports whether an id, which may be untrusted input, can occur in the database. With other texts,
// Postgres would return an error instead of no row.
func storableID(id string) bool { return utf8.ValidString(id) && !strings.ContainsRune(id, 0) }

// foundPacket returns chat.ErrNotFound if no packet was read.
func foundPacket(id string) error {
	if id == "" {
		return chat.ErrNotFound
	}
	return nil
}

func scanGrant(rs pgx.Rows) (g redpacket.Grant, err error) {
	err = rs.Scan(&g.User, &g.Share)
	return g, err
}

// Overdue implements redpacket.Ledger.
func (s *Store) Overdue(ctx context.Context, before time.Time, after redpacket.Overdue, limit int) (all []redpacket.Overdue, err error) {
	err = s.withReader(ctx, func(r reader) error {
		all, err = rows(r, scanOverdue, `select id, partition, expires_at from packets
			where status = 'open' and expires_at < $1 and (expires_at, id) > ($2, $3) order by expires_at, id limit $4`,
			before.UnixMilli(), after.ExpiresAt.UnixMilli(), after.ID, limit)
		return err
	})
	return all, outcome("list overdue packets", err)
}

func scanOverdue(rs pgx.Rows) (o redpacket.Overdue, err error) {
	err = rs.Scan(&o.ID, &o.Partition, storedTime{&o.ExpiresAt})
	return o, err
}

// storedPaid scans a claim, or nulls from an outer join.
type storedPaid struct {
	share, amount, at  pgtype.Int8
	user, name, avatar pgtype.Text
}

// paidColumns returns the columns of the claim c and its user u. The user's name is the one that the newest token
// gave.
func paidColumns(c, u string) string {
	return fmt.Sprintf(`%[1]s.share_no, %[1]s.amount, %[1]s.at, %[1]s.user_id, %[2]s.name, %[2]s.avatar`, c, u)
}

func (s *storedPaid) into() []any {
	return []any{&s.share, &s.amount, &s.at, &s.user, &s.name, &s.avatar}
}

func (s *storedPaid) paid() *redpacket.Paid {
	if !s.share.Valid {
		return nil
	}
	p := &redpacket.Paid{Share: int(s.share.Int64), Amount: redpacket.Money(s.amount.Int64), At: fromMillis(s.at.Int64)}
	p.User.ID, p.User.Name, p.User.Avatar = s.user.String, s.name.String, s.avatar.String
	return p
}

// shareCache caches the amounts of packets' shares, which never change. Without it, reading a long array for each
// batch would limit the throughput of a hot packet. The amounts are as secret as the seeds. The zero value is ready.
type shareCache struct {
	mu   sync.Mutex
	cut  map[string][]redpacket.Money
	size int // number of shares of all packets
}

// maxCachedShares bounds the cache to 8 MB.
const maxCachedShares = 1 << 20

// cached returns the shares of the packets that are in the cache, and the ids of the other packets.
func (c *shareCache) cached(packets []string) (cut map[string][]redpacket.Money, unknown []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cut = make(map[string][]redpacket.Money, len(packets))
	for _, id := range packets {
		if shares, ok := c.cut[id]; ok {
			cut[id] = shares
		} else {
			unknown = append(unknown, id)
		}
	}
	return cut, unknown
}

func (c *shareCache) put(packet string, shares []redpacket.Money) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == nil {
		c.cut = map[string][]redpacket.Money{}
	}
	if _, ok := c.cut[packet]; ok {
		return
	}
	for id, old := range c.cut { // drops any one: a hot packet soon returns to the cache
		if c.size+len(shares) <= maxCachedShares {
			break
		}
		c.size -= len(old)
		delete(c.cut, id)
	}
	c.cut[packet] = shares
	c.size += len(shares)
}

// drop removes a packet that the database no longer has from the cache.
func (c *shareCache) drop(packet string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size -= len(c.cut[packet])
	delete(c.cut, packet)
}

// shares returns the amounts of the shares of those packets that exist. unreadable has the reasons why the shares of
// packets cannot be decrypted.
func (s *Store) shares(q querier, packets []string) (cut map[string][]redpacket.Money, unreadable map[string]error, err error) {
	cut, unknown := s.cuts.cached(packets)
	if len(unknown) == 0 {
		return cut, nil, nil
	}
	read, err := rows(q, scanCut, `select p.id, p.sender, p.key, p.mode, p.spread, p.total, p.count, `+cutColumns+`
		from packets p where p.id = any($1)`, unknown)
	if err != nil {
		return nil, nil, err
	}
	unreadable = map[string]error{}
	for _, p := range read {
		if _, cut[p.packet.ID], err = s.keys.Cut(p.packet, p.columns); err != nil {
			unreadable[p.packet.ID] = err
			continue
		}
		s.cuts.put(p.packet.ID, cut[p.packet.ID])
	}
	return cut, unreadable, nil
}

// cutColumns are the columns of packets p that say how the packet is cut.
const cutColumns = `p.seed, p.encrypted_seed, p.shares`

// cutInto returns the destinations to scan cutColumns into c.
func cutInto(c *secret.Columns) []any { return []any{&c.Seed, &c.EncryptedSeed, &c.Shares} }

// storedCut is how one packet is cut, with the columns from which the shares follow.
type storedCut struct {
	packet  redpacket.Packet
	columns secret.Columns
}

func scanCut(rs pgx.Rows) (s storedCut, err error) {
	p := &s.packet
	err = rs.Scan(append([]any{&p.ID, &p.From.ID, &p.Key, &p.Mode, &p.Spread, &p.Total, &p.Count}, cutInto(&s.columns)...)...)
	return s, err
}

// stateColumns and stateJoins make up the state of packets p as the user $1 sees it. The alias m is the user's own
// claim. l is the luckiest claim, which is marked only when the packet is done.
var (
	stateColumns = `p.id, p.status, p.refunded,
		case when p.status = 'open' then (select count(*) from claims where packet_id = p.id) else p.claimed end, ` +
		paidColumns("m", "mu") + `, ` + paidColumns("l", "lu")
	stateJoins = `
		left join claims m on m.packet_id = p.id and m.user_id = $1 left join users mu on mu.id = m.user_id
		left join claims l on l.packet_id = p.id and l.luckiest left join users lu on lu.id = l.user_id `
)

// storedState scans stateColumns.
type storedState struct {
	state          redpacket.State
	mine, luckiest storedPaid
}

func (s *storedState) into() []any {
	dest := []any{&s.state.Packet, &s.state.Status, &s.state.Refunded, &s.state.Claimed}
	dest = append(dest, s.mine.into()...)
	return append(dest, s.luckiest.into()...)
}

func (s *storedState) value() redpacket.State {
	s.state.Mine, s.state.Luckiest = s.mine.paid(), s.luckiest.paid()
	return s.state
}

func scanState(rs pgx.Rows) (redpacket.State, error) {
	var s storedState
	err := rs.Scan(s.into()...)
	return s.value(), err
}

// States implements redpacket.Ledger.
func (s *Store) States(ctx context.Context, user string, packets []string) (states []redpacket.State, err error) {
	packets = slices.DeleteFunc(slices.Clone(packets), func(id string) bool { return !storableID(id) })
	err = s.withReader(ctx, func(r reader) error {
		states, err = rows(r, scanState, `select `+stateColumns+`
			from unnest($2::text[]) with ordinality asked (id, place) join packets p on p.id = asked.id`+stateJoins+`
			order by asked.place`, user, packets)
		return err
	})
	return states, outcome("read states", err)
}

// Details implements redpacket.Ledger.
func (s *Store) Details(ctx context.Context, q redpacket.DetailsQuery) (d redpacket.DetailsPage, err error) {
	if !storableID(q.Packet) {
		return redpacket.DetailsPage{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		if err := r.sendBatch(oneSnapshot(func(batch *pgx.Batch) { r.queueDetails(batch, q, &d) })); err != nil {
			return err
		}
		return foundPacket(d.Packet.ID)
	})
	if err != nil {
		return redpacket.DetailsPage{}, outcome("read details", err)
	}
	return d, nil
}

// queueDetails makes the batch read the page into d, which stays empty if there is no such packet. Seed and shares of an
// open packet are secret, so they are not read.
func (r reader) queueDetails(batch *pgx.Batch, q redpacket.DetailsQuery, d *redpacket.DetailsPage) {
	*d = redpacket.DetailsPage{}
	batch.Queue(`select `+packetColumns+`, `+stateColumns+`,
			case when p.status <> 'open' then p.seed end, case when p.status <> 'open' then p.shares end
		from packets p`+stateJoins+`where p.id = $2`, q.User, q.Packet).QueryRow(func(row pgx.Row) (err error) {
		var (
			stored storedPacket
			state  storedState
		)
		dest := append(stored.into(), state.into()...)
		if err := row.Scan(append(dest, storedSeed{&d.Seed}, &d.Shares)...); err != nil {
			return noRowsOK(err)
		}
		d.State = state.value()
		d.Packet, err = stored.value(r.keys)
		return err
	})
	batch.Queue(claimsAfter, q.Packet, min(q.AfterRank, math.MaxInt32), q.Limit+1).Query(func(rs pgx.Rows) (err error) {
		if d.Claims, err = collect(rs, scanPaid); len(d.Claims) > q.Limit {
			d.Claims, d.More = d.Claims[:q.Limit], true
		}
		return err
	})
}

// claimsAfter reads a page of claims, ordered by share. It selects the page before it joins the users. Otherwise, for
// a packet newer than the table's statistics, Postgres would join the users of all its claims.
var claimsAfter = `select ` + paidColumns("c", "u") + `
	from (select share_no, amount, at, user_id from claims where packet_id = $1 and share_no >= $2 order by share_no limit $3) c
	left join users u on u.id = c.user_id order by c.share_no`

// Book implements redpacket.Ledger.
func (s *Store) Book(ctx context.Context, packet string) (b redpacket.Book, err error) {
	if !storableID(packet) {
		return redpacket.Book{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		if err := r.sendBatch(oneSnapshot(func(batch *pgx.Batch) { r.queueBook(batch, packet, &b) })); err != nil {
			return err
		}
		return foundPacket(b.Packet.ID)
	})
	if err != nil {
		return redpacket.Book{}, outcome("read book", err)
	}
	return b, nil
}

// oneSnapshot returns a batch whose queued statements all see one snapshot, in one round trip. If a statement fails,
// the connection stays in a transaction, so the pool closes it on release.
func oneSnapshot(queue func(b *pgx.Batch)) *pgx.Batch {
	b := &pgx.Batch{}
	b.Queue(`begin read only, isolation level repeatable read`)
	queue(b)
	b.Queue(`commit`)
	return b
}

// queueBook makes the batch read the packet and its claims into b, which stays empty if there is no such packet.
// These are two statements: they must see one snapshot, or the packet's row must be locked.
func (r reader) queueBook(batch *pgx.Batch, packet string, b *redpacket.Book) {
	*b = redpacket.Book{}
	batch.Queue(`select `+packetColumns+`, p.status, p.refunded, `+cutColumns+` from packets p where p.id = $1`, packet).
		QueryRow(func(row pgx.Row) (err error) {
			var (
				stored  storedPacket
				columns secret.Columns
			)
			if err := row.Scan(append(append(stored.into(), &b.Status, &b.Refunded), cutInto(&columns)...)...); err != nil {
				return noRowsOK(err)
			}
			if b.Packet, err = stored.value(r.keys); err == nil {
				b.Seed, b.Shares, err = r.keys.Cut(b.Packet, columns)
			}
			return err
		})
	batch.Queue(claimsQuery, packet).Query(func(rs pgx.Rows) (err error) {
		b.Claims, err = collect(rs, scanPaid)
		return err
	})
}

// claimsQuery reads a packet's claims by share.
var claimsQuery = `select ` + paidColumns("c", "u") + `
	from claims c left join users u on u.id = c.user_id where c.packet_id = $1 order by c.share_no`

func scanPaid(rs pgx.Rows) (redpacket.Paid, error) {
	var s storedPaid
	if err := rs.Scan(s.into()...); err != nil {
		return redpacket.Paid{}, err
	}
	return *s.paid(), nil
}
