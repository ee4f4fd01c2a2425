package storetest

import "strings"

// moneyColumns lists wrong values for columns that an audit checks, by table and column. The ids of transfers are left out:
// only claims refer to them, by the column transfer, which is listed. A test uses only values that differ from the stored
// one.
func moneyColumns(w AuditWords) map[string]map[string][]string {
	links := []string{"0", "1", "link + 1", "(select max(id) from links)"}
	return map[string]map[string][]string{
		"wallets": {"user_id": {"'somebody'"}, "balance": {"balance + 1", "balance - 1", "9223372036854775807"}},
		"packets": {
			"id": {"'another'"}, "room_id": {"'room-2'", "'nowhere'"}, "sender": {"'u9'", "'u2'"},
			"mode": {"'equal'", "'lucky'"}, "spread": {"''", "'calm'", "'classic'", "'wild'"},
			"total": {"total + 1", "total - 1", "9223372036854775807"}, "count": {"count + 1", "count - 1", w.Many},
			"shares": w.Shares, "greeting": {"'other words'"}, "recipients": {w.To}, "earlier_members": {"not earlier_members"}, "one_per_person": {"not one_per_person"}, "skin": {"'koi'"},
			"held": {"'[[\"u9\",1]]'", "'no list'", "replace(held, 'u3', 'u9')", "replace(held, '3', '2')"}, "held_until": {"held_until + 1", "0"}, "opens_at": {"opens_at + 1", "0"}, "window_s": {"window_s + 1", "0"}, "rest": {"'share'", "'refund'", "''"}, "participants": {"participants + 1"}, "drawn_at": {"drawn_at + 1", "0"},
			"root": {"'" + strings.Repeat("0", 64) + "'", "''"}, "parts": {"parts + 1", "0", "2000000000"}, "draw_link": links,
			"waves": {"waves + 1", "0", "2000000000"}, "max_wins": {"max_wins + 1", "0"}, "waves_drawn": {"waves_drawn + 1", "0"}, "passphrase": {"'open sesame'"},
			"seed": {w.Bytes(32), w.Bytes(31)}, "encrypted_seed": {"case length(encrypted_seed) when 0 then " + w.Bytes(69) + " else " + w.Bytes(0) + " end", w.Bytes(70)}, "commitment": {"'" + strings.Repeat("0", 64) + "'"}, "key": {"'another'"},
			"seq": {"seq + 1"}, "status": {"'open'", "'drained'", "'expired'", "'cancelled'"},
			"created_at": {"created_at + 1"}, "expires_at": {"expires_at + 1"}, "closed_at": {"closed_at + 1", "null", "5"},
			"refunded": {"refunded + 1", "refunded - 1"}, "claimed": {"claimed + 1"}, "done_seq": {"done_seq + 1", "null", "1"},
			"partition": {"partition + 1"}, "sender_name": {"'Other'"}, "sender_avatar": {"'other.png'"},
			"link": links, "name_seal": {w.Bytes(16), w.Bytes(32)}, "text_seal": {w.Bytes(16), w.Bytes(32)},
		},
		"claims": {
			"packet_id": {"'another'", "'cancelled'"}, "share_no": {"99", "-1", "3"},
			"user_id": {"'somebody'", "'u9'"}, "amount": {"amount + 1", "amount - 1", "9223372036854775807"},
			"at": {"at + 1"}, "transfer": {"'another'"}, "luckiest": {w.OtherMarked}, "link": links, "wave": {"wave + 1", "0"},
		},
		"rain_waves": {
			"packet_id": {"'another'", "'open'", "'raining'"}, "wave": {"wave + 1", "0"}, "drawn_at": {"drawn_at + 1", "0"}, "participants": {"participants + 1"},
			"root": {"'" + strings.Repeat("0", 64) + "'", "''"}, "first_share": {"first_share + 1"}, "winners": w.Winners, "link": links,
		},
		"participants": {
			"packet_id": {"'another'", "'open'", "'shared'"}, "user_id": {"'u9'", "'somebody'"}, "leaf": {"'" + strings.Repeat("0", 64) + "'", "''"},
			"at": {"at + 1"}, "link": links, "wave": {"wave + 1", "0", "wave - 1"},
		},
		"transfers": {
			"debit": {"'outside'", "'user:u9'", "'packet:another'"}, "credit": {"'outside'", "'user:u9'", "'packet:another'"},
			"amount": {"amount + 1", "amount - 1", "9223372036854775807"}, "user_id": {"'u9'", "'somebody'"},
			"kind":      {"'credit'", "'debit'", "'send'", "'claim'", "'refund'"},
			"packet_id": {"'another'", "null", "(select max(id) from packets)"}, "share_no": {"null", "99", "0"},
			"key": {"'another'"}, "hash": {w.Bytes(1)}, "note": {"'other words'"}, "actor": {"'somebody'"}, "request_id": {"'another'"},
			"reason": {"'other words'"}, "link": links,
		},
		"entries": {
			"room_id": {"'nowhere'"}, "seq": {"seq + 1000"}, "id": {"'another'"}, "at": {"at + 1"}, "sender": {"'u9'"},
			"sender_name": {"'Other'"}, "sender_avatar": {"'other.png'"}, "kind": {"'text'", "'member'"}, "key": {"'another'", "''"},
			"body": {"'{}'", "body || ' '"}, "content_no": {"content_no + 1"}, "target": {"target + 1"}, "link": links,
			"name_seal": {w.Bytes(16), w.Bytes(32)}, "text_seal": {w.Bytes(16), w.Bytes(32)},
		},
		"requests": {
			"user_id": {"'u9'"}, "key": {"'another'"}, "hash": {w.Bytes(1)}, "room_id": {"'nowhere'"}, "seq": {"seq + 1", "0"},
		},
		"links": {
			"chain": {"chain + 1000"}, "id": {"id + 1", "1"}, "prev": {"prev + 1"}, "at": {"at + 1"}, "leaves": {"leaves + 1"},
			"hash": {w.Bytes(32), w.Bytes(31)},
		},
		"chains": {}, // no column is changed, rows are only removed
	}
}

// forgeries returns statements that forge the data in other ways than one changed column of one row. They add or remove
// rows, make gaps in numbers, change several rows or columns, or change tables that moneyColumns does not list.
func forgeries(w AuditWords) []string {
	return []string{
		`insert into wallets (user_id, balance) values ('somebody', 5)`,
		`insert into claims (packet_id, share_no, user_id, amount, at, transfer) values ('open', 5, 'u9', 10, 1, 'x')`,
		`insert into claims (packet_id, share_no, user_id, amount, at, transfer) values ('cancelled', 0, 'u9', 10, 1, 'x')`,
		`insert into claims (packet_id, share_no, user_id, amount, at, transfer) values ('none', 0, 'u9', 10, 1, 'x')`,
		`insert into transfers (id, at, debit, credit, amount, kind, user_id, key, hash)
			values ('x', 1, 'outside', 'user:u1', 5, 'credit', 'u1', 'x', ` + w.Bytes(1) + `)`,
		`insert into transfers (id, at, debit, credit, amount, kind, user_id, packet_id)
			values ('x', 1, 'packet:open', 'user:u1', 5, 'refund', 'u1', 'open')`,
		`insert into transfers (id, at, debit, credit, amount, kind, user_id, packet_id, share_no)
			values ('x', 1, 'packet:open', 'user:u1', 5, 'claim', 'u1', 'open', 5)`,
		`insert into transfers (id, at, debit, credit, amount, kind, user_id, packet_id, share_no)
			select 'x', at, debit, credit, amount, kind, user_id, packet_id, share_no from transfers where kind = 'claim' and packet_id = 'open'
			and share_no = 0`,
		`insert into packets (` + copied + `, id, key) select ` + copied + `, 'copy', 'copy' from packets where id = 'open'`,
		// The packet is reopened, without a trace of the close in the money tables.
		`update claims set luckiest = ` + w.Unmarked + ` where packet_id = 'drained';
			update packets set status = 'open', closed_at = null, done_seq = null, refunded = 0, claimed = 0 where id = 'drained'`,
		// Money moves from wallet to wallet without a transfer: the sum of the wallets is still right.
		`update wallets set balance = balance + 7 where user_id = 'u1'; update wallets set balance = balance - 7 where user_id = 'u2'`,
		`update claims set luckiest = ` + w.Unmarked + ` where packet_id = 'drained'`,

		// A participant is left out, a ghost is added, and the share of a winner goes to another participant.
		`delete from participants where packet_id = 'drawn' and user_id = 'u4'; update packets set participants = participants - 1 where id = 'drawn'`,
		`delete from participants where packet_id = 'entered' and user_id = 'u4'; update packets set participants = participants - 1 where id = 'entered'`,
		`insert into participants (packet_id, wave, user_id, leaf, at) select packet_id, wave, 'u9', leaf, at from participants
			where packet_id = 'entered' and user_id = 'u4'; update packets set participants = participants + 1 where id = 'entered'`,
		`update claims set user_id = 'u0' where packet_id = 'drawn' and share_no = 0`,
		`update claims set user_id = (select min(user_id) from participants where packet_id = 'drawn'
			and user_id not in (select user_id from claims where packet_id = 'drawn')) where packet_id = 'drawn' and share_no = 1`,
		// A winner is not paid, and the sender gets the share back, in all tables of money but the links.
		`delete from transfers where packet_id = 'drawn' and kind = 'claim' and share_no = 2; update packets set claimed = 2, status = 'expired',
			refunded = (select amount from claims where packet_id = 'drawn' and share_no = 2) where id = 'drawn';
			delete from claims where packet_id = 'drawn' and share_no = 2`,
		// The same of a wave, and a wave that is moved.
		`delete from participants where packet_id = 'rained' and user_id = 'u4'; update packets set participants = participants - 1 where id = 'rained';
			update rain_waves set participants = participants - 1 where packet_id = 'rained' and wave = 2`,
		`insert into participants (packet_id, wave, user_id, leaf, at) select packet_id, wave, 'u9', leaf, at from participants
			where packet_id = 'rained' and user_id = 'u4'; update packets set participants = participants + 1 where id = 'rained';
			update rain_waves set participants = participants + 1 where packet_id = 'rained' and wave = 2`,
		`update claims set user_id = 'u0' where packet_id = 'rained' and share_no = 0`,
		`update claims set wave = 1 where packet_id = 'rained'; update participants set wave = 1 where packet_id = 'rained'`,
		`update rain_waves set wave = 4 - wave where packet_id = 'rained'`,
		`delete from rain_waves where packet_id = 'rained' and wave = 1`,
		`update participants set at = at - 600000 where packet_id = 'rained'`,
		`update packets set drawn_at = 0, root = '', parts = 0, draw_link = 0 where id = 'drawn'`,
		`update packets set status = 'expired' where id = 'entered'`,

		// A second account of a person has a share: no person is bound to it. And a person is bound to another account.
		`delete from persons where packet_id = 'once' and user_id = 'u4'`,
		`delete from persons where packet_id = 'persons' and user_id = (select min(user_id) from claims where packet_id = 'persons')`,
		`update persons set user_id = 'u1' where packet_id = 'persons' and user_id = (select min(user_id) from claims where packet_id = 'persons' and user_id <> 'u1')`,

		`delete from entries where seq = 2`, `delete from entries where seq = 1`,
		`delete from entries where seq = (select max(seq) from entries where room_id = 'room-1')`,
		`delete from entries where room_id = 'room-2'`,
		`update entries set seq = 1000 where seq = 3`, `update entries set room_id = 'nowhere' where room_id = 'room-2'`,
		`update entries set content_no = content_no + 1 where seq = 3`, `update entries set kind = 'member' where kind = 'text'`,
		`update transfers set at = at + 1 where kind = 'send'`, `update transfers set at = at + 1 where kind = 'claim'`,
		`update transfers set at = at + 1 where kind = 'refund'`,
		`update entries set at = at + 1 where kind = 'packet'`, `update entries set at = at + 1 where kind = 'packet_done'`,
		`update entries set sender = 'u9' where kind = 'packet'`, `update entries set sender = 'u9' where kind = 'packet_done'`,
		`update entries set key = 'another' where kind = 'packet'`,
		`update entries set body = ` + w.NoBody + ` where kind = 'packet' and seq = 2`,
		`update entries set body = ` + w.OtherTotal + ` where kind = 'packet' and seq = 2`,
		`update entries set body = ` + w.OtherSeed + ` where kind = 'packet_done'`,
		`update rooms set last_seq = last_seq + 1`, `update rooms set last_seq = last_seq - 1`, `delete from rooms where id = 'room-2'`,
		`update rooms set content_no = content_no + 1`, `update rooms set members = members + 1`,
		`delete from members where user_id = 'u2'`, `delete from requests where ref = 'open'`,
		`update requests set ref = 'drained' where ref = 'open'`,

		`delete from refs where kind = 'user'`, `delete from refs where kind = 'room'`, `update refs set id = 'u2' where kind = 'user'`,
		`update refs set ref = 'other' where kind = 'user'`, `update users set ref = 'other' where id = 'u1'`, `update users set ref = '' where id = 'u1'`,
		`update rooms set ref = 'other' where id = 'room-1'`, `insert into refs (kind, ref, id) values ('user', 'other', 'nobody')`,

		`delete from reactions`, `delete from reactions where user_id = 'u1'`, `delete from reactions where emoji = '福'`,
		`update reactions set emoji = '👎' where emoji = '福'`, `update reactions set seq = 1 where emoji = '福'`,
		`insert into reactions (room_id, seq, emoji, user_id) select room_id, target, '👍', 'u2' from entries where kind = 'recall'`,
		`insert into reactions (room_id, seq, emoji, user_id) values ('nowhere', 1, '👍', 'u1')`,
		`update entries set fold = '' where fold like '%reactions%'`, `update entries set fold = '{}' where fold like '%reactions%'`,
		// A win is moved to another user, in all tables of money.
		`insert into wallets (user_id, balance) select 'u9', amount from claims where packet_id = 'open' and share_no = 0;
			update wallets set balance = balance - (select amount from claims where packet_id = 'open' and share_no = 0) where user_id = 'u0';
			update transfers set user_id = 'u9', credit = 'user:u9' where packet_id = 'open' and share_no = 0 and kind = 'claim';
			update claims set user_id = 'u9' where packet_id = 'open' and share_no = 0`,
		// A credit is added, and circulation and wallet are raised to fit it.
		`update circulation set amount = amount + 5; update wallets set balance = balance + 5 where user_id = 'u1';
			insert into transfers (id, at, debit, credit, amount, kind, user_id, key, hash)
			values ('x', 1, 'outside', 'user:u1', 5, 'credit', 'u1', 'x', ` + w.Bytes(1) + `)`,
		// The newest text is removed with its request, and the room's counters are corrected. Its link stays.
		`update rooms set last_seq = last_seq - 1, content_no = content_no - 1 where id = 'room-2';
			delete from requests where key = 'last'; delete from entries where id = 'last'`,
		`update entries set body = replace(body, '"user"', '"usor"') where kind = 'packet_done' and body like '%luckiest%'`,
		`update entries set body = '{"recalled":true}' where id = 'last'`,
		`update entries set body = '{"recalled":true}', text_seal = ` + w.Bytes(32) + ` where id = 'last'`,
		`update entries set body = '{"text":"hello"}' where body = '{"recalled":true}'`,
		`delete from links`, `delete from links where leaves = 0`, `delete from chains`,

		`update entries set fold = replace(fold, 'edited twice', 'edited once')`, `update entries set fold = replace(fold, '"edited_at":', '"edited_at":1')`,
		`update entries set fold = replace(fold, '"edit_seq":', '"edit_seq":1')`, `update entries set fold = replace(fold, '"recall_seq":', '"recall_seq":1')`,
		`update entries set fold = '' where fold like '%recall%'`, `update entries set fold = '{"text":"other words"}' where id = 'e-room-2'`,
		`update entries set fold = '{"recall_seq":1}' where id = 'e-room-2'`,
		`update entries set fold = replace(fold, '{"recall_seq"', '{"text":"other words","recall_seq"')`,
		`update entries set fold = replace(fold, ':2', ':3')`, `update entries set fold = 'no JSON' where fold <> ''`,
	}
}

// copied are the columns of a packet, except its id, its key and the columns that later migrations have added. Those
// columns have a default.
const copied = `partition, room_id, sender, sender_name, sender_avatar, mode, spread, total, count, shares, greeting, recipients,
	passphrase, seed, commitment, seq, status, created_at, expires_at, closed_at, refunded, claimed, done_seq`
