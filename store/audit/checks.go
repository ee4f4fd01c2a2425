package audit

// The checks in this file need only SQL. Where a value can be null, they compare with "is distinct from", so that a null counts
// as a difference. Where a row can be missing on either side, they use a full join, or one check for each side. A word in braces
// stands for the rows to look at: see the comment of the package.

// transferChecks compare the fields of a transfer with each other, and transfers, packets, claims and fundings with one another. Two of
// them repeat the condition of the index transfers_once; otherwise SQLite would not use the index.
var transferChecks = []check{
	{"transfer", `select id, format('its parties do not fit a %s: from %s to %s, user %s', kind, debit, credit, user_id)
		from transfers where (debit, credit) is distinct from (case kind
			when 'credit' then 'outside'
			when 'debit'  then 'user:' || user_id
			when 'send'   then 'user:' || user_id
			else 'packet:' || packet_id end, case kind
			when 'debit'  then 'outside'
			when 'send'   then 'packet:' || packet_id
			else 'user:' || user_id end)`},

	{"transfer", `select id, format('a %s has a packet, a share or a key that it should not have, or lacks one', kind)
		from transfers where (packet_id is null, share_no is null, key is null, hash is null) is distinct from
			(kind in ('credit', 'debit'), kind <> 'claim', kind not in ('credit', 'debit'), kind not in ('credit', 'debit'))`},

	{"packet", `select p.id, 'no transfer takes its total from its sender'
		from {packets} p left join transfers t on t.packet_id = p.id and t.kind in ('send', 'refund') and t.kind = 'send'
		where (t.user_id, t.amount, t.at) is distinct from (p.sender, p.total, p.created_at)`},
	{"claim", `select c.packet_id, format('no transfer pays share %s', c.share_no)
		from {claims} c left join transfers t on t.user_id = c.user_id and t.at = c.at and t.id = c.transfer
			and (t.packet_id, t.share_no, t.kind, t.amount) = (c.packet_id, c.share_no, 'claim', c.amount)
		where t.id is null`},
	{"claim", `select c.packet_id, format('share %s is of no packet', c.share_no)
		from {claims} c left join packets p on p.id = c.packet_id where p.id is null`},

	{"packet", `select p.id, 'no transfer pays its refund'
		from {packets} p left join transfers t on t.packet_id = p.id and t.kind in ('send', 'refund') and t.kind = 'refund'
		where p.refunded <> 0 and (t.user_id, t.amount, t.at) is distinct from (p.sender, p.refunded, p.closed_at)`},

	{"funding", `select f.id, 'the packet was sent with it, and no transfer credits its amount'
		from fundings f left join transfers t on t.key = 'funding:' || f.id
		where f.state = 'sent' and (t.user_id, t.amount, t.kind, t.request_id) is distinct from (f.user_id, f.amount, 'credit', f.id)`},
	{"funding", `select f.id, 'its packet is not as it was asked for'
		from fundings f left join packets p on p.id = f.packet_id
		where f.state = 'sent' and (p.sender, p.room_id, p.key, p.total) is distinct from (f.user_id, f.room_id, f.key, f.total)`},
}

// packetChecks compare packets with the idempotency keys that they were sent with.
var packetChecks = []check{
	{"packet", `select p.id, 'the request with its key names another entry or packet, or is missing'
		from {packets} p left join requests r on r.user_id = p.sender and r.key = p.key
		where (r.room_id, r.seq, r.ref) is distinct from (p.room_id, p.seq, p.id)`},
}

// roomChecks look for gaps in the seqs of entries, and for wrong counters of rooms and entries.
var roomChecks = []check{
	{"room", `select coalesce(r.id, e.room_id), format('it should have the entries 1 to %s, and has %s from %s to %s',
			coalesce(r.last_seq, 0), coalesce(e.n, 0), coalesce(e.first, 0), coalesce(e.last, 0))
		from rooms r full join (
			select room_id, count(*) as n, min(seq) as first, max(seq) as last from entries group by room_id) e on e.room_id = r.id
		where (r.last_seq, case when r.last_seq > 0 then 1 end, nullif(r.last_seq, 0)) is distinct from (coalesce(e.n, 0), e.first, e.last)`},

	{"room", `select e.room_id, format('entry %s counts %s texts and packets, and the one before it %s', e.seq, e.content_no, coalesce(b.content_no, 0))
		from {entries} e left join entries b on b.room_id = e.room_id and b.seq = e.seq - 1
		where e.content_no <> coalesce(b.content_no, 0) + case when e.kind in ('text', 'packet') then 1 else 0 end`},
	{"room", `select r.id, format('it counts %s texts and packets, and has %s', r.content_no, e.n)
		from rooms r join (
			select room_id, count(*) filter (where kind in ('text', 'packet')) as n from entries group by room_id) e on e.room_id = r.id
		where r.content_no <> e.n`},

	{"room", `select r.id, format('it counts %s members, and has %s', r.members, case when r.deleted_at = 0 then coalesce(m.n, 0) else 0 end)
		from rooms r left join (
			select room_id, count(*) as n from members where state = 'in' group by room_id) m on m.room_id = r.id
		where r.members <> case when r.deleted_at = 0 then coalesce(m.n, 0) else 0 end`},
}

// refChecks compare the table refs, which has the ids that a host has given, with the users and rooms that these ids belong to.
var refChecks = []check{
	{"ref", `select f.ref, format('it is said to be of the %s %s, which has another one or does not exist', f.kind, f.id)
		from refs f left join users u on u.id = f.id and f.kind = 'user' left join rooms r on r.id = f.id and f.kind = 'room'
		where coalesce(u.ref, r.ref) is distinct from f.ref`},
	{"ref", `select o.ref, format('the %s %s has it, and is not found by it', o.kind, o.id)
		from (select 'user' as kind, id, ref from users where ref <> ''
			union all select 'room', id, ref from rooms where ref <> '' and deleted_at = 0) o
			left join refs f on f.kind = o.kind and f.ref = o.ref
		where f.id is distinct from o.id`},
}

// reverseChecks look for transfers and requests that no packet, claim, funding or entry explains. They read whole tables. So an audit
// of only the newer rows runs countChecks instead.
var reverseChecks = []check{
	{"transfer", `select t.id, 'no packet has the sender, total and time of this send'
		from transfers t left join packets p on p.id = t.packet_id
		where t.kind = 'send' and (t.user_id, t.amount, t.at) is distinct from (p.sender, p.total, p.created_at)`},
	{"transfer", `select t.id, 'no claim has the user, amount and time of this transfer'
		from transfers t left join claims c on c.packet_id = t.packet_id and c.share_no = t.share_no
		where t.kind = 'claim' and (t.id, t.user_id, t.amount, t.at) is distinct from (c.transfer, c.user_id, c.amount, c.at)`},
	{"transfer", `select t.id, 'no packet has the sender, refund and time of this transfer'
		from transfers t left join packets p on p.id = t.packet_id
		where t.kind = 'refund' and (t.user_id, t.amount, t.at) is distinct from (p.sender, p.refunded, p.closed_at)`},
	{"transfer", `select t.id, 'it is the credit of no funding'
		from transfers t left join fundings f on f.user_id = t.user_id and f.id = t.request_id
		where t.kind = 'credit' and t.actor = 'hook' and t.key = 'funding:' || t.request_id
			and (f.state, f.amount) is distinct from ('sent', t.amount)`},
	{"room", `select r.room_id, format('key %s of %s is remembered for entry %s, which was not made with it', r.key, r.user_id, r.seq)
		from requests r left join entries e on e.room_id = r.room_id and e.seq = r.seq
		where r.seq <> 0 and (e.sender, e.key) is distinct from (r.user_id, r.key)`},
}

// countChecks compare counts and sums of whole tables. They find that rows were added or removed, however old these are, or that
// amounts were changed, unless several changes cancel each other out.
func (a *auditor) countChecks() []check {
	total, amount, refunded := sum(a.Amount(`total`)), sum(a.Amount(`amount`)), sum(a.Amount(`refunded`))
	return []check{
		{"books", `select '', format('the links were made of %s rows, and there are %s', l.n, r.n)
		from (select coalesce(sum(leaves), 0) as n from links) l, (select (select count(*) from entries) + (select count(*) from packets)
			+ (select count(*) from claims) + (select count(*) from participants) + (select count(*) from rain_waves) + (select count(*) from packets where draw_link > 0)
			+ (select count(*) from transfers where kind in ('credit', 'debit')) as n) r
		where l.n <> r.n`},
		{"books", `select '', format('there are %s packets of %s, and %s transfers of %s for sending packets', p.n, p.total, t.n, t.total)
		from (select count(*) as n, ` + total + ` as total from packets) p,
			(select count(*) as n, ` + amount + ` as total from transfers where kind = 'send') t
		where (p.n, p.total) <> (t.n, t.total)`},
		{"books", `select '', format('there are %s claims of %s, and %s transfers of %s for claims', c.n, c.total, t.n, t.total)
		from (select count(*) as n, ` + amount + ` as total from claims) c,
			(select count(*) as n, ` + amount + ` as total from transfers where kind = 'claim') t
		where (c.n, c.total) <> (t.n, t.total)`},
		{"books", `select '', format('%s packets have refunds of %s, and there are %s transfers of %s for refunds', p.n, p.total, t.n, t.total)
		from (select count(*) as n, ` + refunded + ` as total from packets where refunded <> 0) p,
			(select count(*) as n, ` + amount + ` as total from transfers where kind = 'refund') t
		where (p.n, p.total) <> (t.n, t.total)`},
		{"books", `select '', format('%s entries were made with keys, and %s keys are remembered', e.n, r.n)
		from (select count(*) as n from entries where key <> '') e, (select count(*) as n from requests where seq <> 0) r
		where e.n <> r.n`},
	}
}
