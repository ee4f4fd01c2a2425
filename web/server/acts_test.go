package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/web/wire"
	"hongbao/web/wire/hostapi"
)

func TestHostCreatesAUserAndActsForIt(t *testing.T) {
	h := newTestHost(t)
	put := func(user, body string) answer { return h.send(h.all, "PUT", "/v1/server/users/"+user, body) }
	as := func(user, command, body string) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, body)
	}

	h.refused(as("ann", "create_room", `{"name":"Tea"}`), wire.CodeNotFound, "not_found")
	ok[hostapi.UserReply](h, put("ann", `{"name":"Ann","avatar":"https://shop.example.com/ann.png"}`))
	if u := ok[hostapi.UserReply](h, put("ann", `{"name":"Anna"}`)).User; u.Name != "Anna" || u.Avatar != "https://shop.example.com/ann.png" {
		t.Errorf("%+v, want the new name and the old avatar", u)
	}
	ok[hostapi.UserReply](h, put("bob@shop", `{"name":"Bob"}`))
	for body, want := range map[string]string{
		`{"name":""}`: "bad_request field=name",
		`{"name":"` + strings.Repeat("x", 65) + `"}`: "too_long field=name",
		`{"avatar":"javascript:alert(1)"}`:           "bad_request field=avatar",
	} {
		if a := put("ann", body); a.status == 200 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s, want %q", body, a.status, a.body, want)
		}
	}

	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","key":"r","members":["bob@shop"]}`)).Room.ID
	for n := range 60 { // more than ann may send in the same time
		ok[wire.SendReply](h, as("ann", "send", fmt.Sprintf(`{"room":%q,"key":"k%d","text":"hello"}`, room, n)))
	}
	page := ok[wire.HistoryReply](h, as("bob%40shop", "history", fmt.Sprintf(`{"room":%q,"limit":1}`, room)))
	if len(page.Entries) != 1 || page.Entries[0].From.Name != "Anna" {
		t.Errorf("%+v, want a text of Anna", page.Entries)
	}
	h.refused(as("ann", "nothing", `{}`), wire.CodeUnknownCommand, "unknown_command")
	h.refused(as("ann", "send", `{"room":"x"`), wire.CodeBadRequest, "bad_request field=data")
	if act := h.act("as_send"); !strings.Contains(act.Request, `"for":"ann"`) || strings.Contains(act.Request, "hello") {
		t.Errorf("the act is %+v, want as_send for ann without the text", act)
	}
}

// TestHostMovesMoney credits and debits a wallet, and lets users send and grab a packet.
func TestHostMovesMoney(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob")
	adjust := func(path, body, key string) answer {
		return h.send(h.all, "POST", "/v1/server/users/"+path+"?reason=test", body, "Idempotency-Key", key, "X-Request-Id", "order-17")
	}
	first := ok[wire.AdjustReply](h, adjust("ann/credit", `{"amount":1000,"note":"welcome"}`, "one"))
	again := ok[wire.AdjustReply](h, adjust("ann/credit", `{"amount":1000,"note":"welcome"}`, "one"))
	if first.Balance != 1000 || first.Dup || again.Balance != 1000 || !again.Dup {
		t.Errorf("%+v, then %+v; want 1000, once", first, again)
	}
	if other := ok[wire.AdjustReply](h, adjust("bob/credit", `{"amount":1000,"note":"welcome"}`, "one")); other.Dup || other.Balance != 1000 {
		t.Errorf("the same key for another user: %+v, want a credit", other)
	}
	ok[wire.AdjustReply](h, adjust("bob/debit", `{"amount":1000}`, "one-debit"))
	h.refused(adjust("ann/credit", `{"amount":999}`, "one"), wire.CodeKeyReused, "key_reused")
	h.refused(adjust("ann/debit", `{"amount":1001}`, "two"), wire.CodeInsufficientBalance, "insufficient_balance")
	h.refused(adjust("ann/debit", `{"amount":-5}`, "three"), wire.CodeBadRequest, "bad_request field=amount")
	h.refused(adjust("ann/credit", fmt.Sprintf(`{"amount":1,"note":%q}`, strings.Repeat("x", 201)), "four"), wire.CodeTooLong, "too_long field=note")
	h.refused(h.send(h.all, "POST", "/v1/server/users/ann/credit", `{"amount":5}`), wire.CodeBadRequest, "bad_request field=Idempotency-Key")
	ok[wire.AdjustReply](h, adjust("ann/debit", `{"amount":100}`, "five"))
	if act := h.act("debit"); act.Actor != "key/all" || act.RequestID != "order-17" || act.Reason != "test" {
		t.Errorf("the act is %+v", act)
	}

	as := func(key, user, command, body string) answer {
		return h.send(key, "POST", "/v1/server/as/"+user+"/"+command, body)
	}
	room := ok[wire.CreateRoomReply](h, as(h.all, "ann", "create_room", `{"name":"Tea","key":"r","members":["bob"]}`)).Room.ID
	chatOnly := h.newKey("chat-only", hostapi.Chat, hostapi.Read)
	send := fmt.Sprintf(`{"room":%q,"key":"p","mode":"equal","total":300,"count":1}`, room)
	h.refused(as(chatOnly, "ann", "send_packet", send), wire.CodeForbidden, "forbidden scope=money")
	packet := ok[wire.SendPacketReply](h, as(h.all, "ann", "send_packet", send)).Packet.ID
	before := len(h.acts())
	if g := ok[wire.GrabReply](h, as(h.all, "bob", "grab", fmt.Sprintf(`{"packet":%q}`, packet))); g.Outcome != "won" || g.Amount != 300 {
		t.Errorf("bob's grab: %+v", g)
	}
	if n := len(h.acts()); n != before+1 {
		t.Errorf("%d acts were stored for a grab, want one", n-before)
	}
	if w := ok[wire.WalletReply](h, as(chatOnly, "bob", "wallet", "")); w.Balance != 300 || len(h.acts()) != before+1 {
		t.Errorf("bob's wallet: %+v; %d acts were stored for it, want none", w, len(h.acts())-before-1)
	}
}

// TestHostFreezesAndLimitsWallets freezes a wallet, and limits what users send and receive.
func TestHostFreezesAndLimitsWallets(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob")
	money := func(verb, path, body string) answer {
		return h.send(h.all, verb, "/v1/server/users/"+path, body, "Idempotency-Key", path+body)
	}
	as := func(user, command, body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, fmt.Sprintf(body, values...))
	}
	ok[wire.AdjustReply](h, money("POST", "ann/credit", `{"amount":1000}`))
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","key":"r","members":["bob"]}`)).Room.ID
	packet := func(key string, total int) answer {
		return as("ann", "send_packet", `{"room":%q,"key":%q,"mode":"equal","total":%d,"count":1}`, room, key, total)
	}

	if w := ok[hostapi.WalletReply](h, money("POST", "ann/wallet/freeze", "")).Wallet; w.FrozenAt == 0 || w.Balance != 1000 {
		t.Errorf("frozen: %+v", w)
	}
	if act := h.act("freeze_wallet"); !strings.Contains(act.Request, `"user":"ann"`) {
		t.Errorf("the act is %+v", act)
	}
	h.refused(packet("p", 10), wire.CodeWalletFrozen, "wallet_frozen")
	h.refused(money("POST", "ann/debit", `{"amount":1}`), wire.CodeWalletFrozen, "wallet_frozen")
	ok[wire.AdjustReply](h, money("POST", "ann/credit", `{"amount":1}`))
	if w := ok[hostapi.WalletReply](h, money("POST", "ann/wallet/unfreeze", "")).Wallet; w.FrozenAt != 0 || w.Balance != 1001 {
		t.Errorf("not frozen: %+v", w)
	}

	set := ok[hostapi.WalletReply](h, money("PUT", "ann/limits", `{"sent":100,"packets":2}`)).Wallet.Limits
	if set == nil || *set.Sent != 100 || *set.Packets != 2 || set.Received != nil {
		t.Errorf("limits %+v", set)
	}
	ok[hostapi.WalletReply](h, money("PUT", "bob/limits", `{"received":60}`))
	first := ok[wire.SendPacketReply](h, packet("p", 60)).Packet.ID
	h.refused(packet("q", 41), wire.CodeLimitExceeded, "limit_exceeded field=day_sent limit=100")
	second := ok[wire.SendPacketReply](h, packet("q", 10)).Packet.ID
	h.refused(packet("s", 1), wire.CodeLimitExceeded, "limit_exceeded field=day_packets limit=2")
	grab := func(packet string) answer { return as("bob", "grab", `{"packet":%q}`, packet) }
	ok[wire.GrabReply](h, grab(first))
	h.refused(grab(second), wire.CodeLimitExceeded, "limit_exceeded field=day_received limit=60")
	if g := ok[wire.GrabReply](h, grab(first)); g.Outcome != "already" {
		t.Errorf("the first share again: %+v", g)
	}
	ann := ok[hostapi.GetWalletReply](h, h.send(h.all, "GET", "/v1/server/users/ann/wallet", nil))
	if u := ann.Today; u.Sent != 70 || u.Packets != 2 || u.Received != 0 || *u.Limits.Sent != 100 || u.Limits.Received != nil || u.To-u.From != 86_400_000 {
		t.Errorf("ann's day: %+v", u)
	}
	if u := ok[hostapi.GetWalletReply](h, h.send(h.all, "GET", "/v1/server/users/bob/wallet", nil)).Today; u.Received != 60 || *u.Limits.Sent != 50_000 || *u.Limits.Received != 60 {
		t.Errorf("bob's day: %+v", u)
	}
	h.refused(money("PUT", "ann/limits", `{"sent":-2}`), wire.CodeBadRequest, "bad_request field=sent")
	h.refused(money("PUT", "nobody/limits", `{}`), wire.CodeNotFound, "not_found")
	h.refused(money("POST", "nobody/wallet/freeze", ``), wire.CodeNotFound, "not_found")
	h.refused(h.send(h.all, "GET", "/v1/server/users/nobody/wallet", nil), wire.CodeNotFound, "not_found")
	if set := ok[hostapi.WalletReply](h, money("PUT", "ann/limits", `{}`)).Wallet.Limits; set != nil {
		t.Errorf("limits %+v, want none", set)
	}
}

func TestHostListsWallets(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob", "cid")
	for i, user := range []string{"ann", "bob", "cid"} {
		ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/"+user+"/credit", fmt.Sprintf(`{"amount":%d}`, i+1), "Idempotency-Key", "k"))
	}
	page := get[hostapi.WalletsReply](h, "wallets?limit=2")
	if len(page.Wallets) != 2 || page.Wallets[1].User != "bob" || page.Wallets[1].Balance != 2 || page.Next != "bob" {
		t.Errorf("the first page is %+v", page)
	}
	if page = get[hostapi.WalletsReply](h, "wallets?limit=2&after=bob"); len(page.Wallets) != 1 || page.Wallets[0].User != "cid" || page.Next != "" {
		t.Errorf("the second page is %+v", page)
	}
	query := func(body string) answer { return h.send(h.all, "POST", "/v1/server/wallets/query", body) }
	if found := ok[hostapi.WalletsReply](h, query(`{"users":["cid","nobody","ann"]}`)).Wallets; len(found) != 2 || found[0].Balance != 3 || found[1].User != "ann" {
		t.Errorf("found %+v", found)
	}
	h.refused(query(`{"users":["a b"]}`), wire.CodeBadRequest, "bad_request field=users[0]")
	h.refused(query(`{"users":["a`+strings.Repeat(`","a`, 1000)+`"]}`), wire.CodeLimitExceeded, "limit_exceeded field=users limit=1000")
	h.refused(h.send(h.all, "GET", "/v1/server/wallets?limit=1001", nil), wire.CodeBadRequest, "bad_request field=limit")
}

// TestHostExportsTheLedger reads all transfers page by page, and goes on from the last cursor.
func TestHostExportsTheLedger(t *testing.T) {
	h := newTestHostWith(t, "room.deleted") // the export needs no event of a transfer
	h.known("ann", "bob")
	as := func(user, command, body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, fmt.Sprintf(body, values...))
	}
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/credit?reason=test", `{"amount":1000,"note":"welcome"}`, "Idempotency-Key", "k", "X-Request-Id", "order-1"))
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","key":"r","members":["bob"]}`)).Room.ID
	packet := ok[wire.SendPacketReply](h, as("ann", "send_packet", `{"room":%q,"key":"p","mode":"equal","total":300,"count":2}`, room)).Packet.ID
	var all []hostapi.LedgerTransfer
	read := func(after string) string {
		for {
			page := get[hostapi.TransfersReply](h, "transfers?limit=1&after="+after)
			all = append(all, page.Transfers...)
			if after = page.Next; !page.More {
				return after
			}
		}
	}
	next := read("")
	if len(all) != 2 || all[0].Kind != "credit" || all[0].Actor != "key/all" || all[0].RequestID != "order-1" || all[0].Reason != "test" || all[0].Note != "welcome" ||
		all[1].Kind != "send" || all[1].Amount != -300 || all[1].Packet != packet || all[1].User != "ann" {
		t.Errorf("the transfers are %+v", all)
	}
	ok[wire.GrabReply](h, as("bob", "grab", `{"packet":%q}`, packet))
	if next = read(next); len(all) != 3 || all[2].Kind != "claim" || all[2].User != "bob" || all[2].Amount != 150 || *all[2].Share != 0 {
		t.Errorf("then %+v", all[2:])
	}
	if read(next); len(all) != 3 {
		t.Errorf("then %+v, want nothing new", all[3:])
	}
	h.refused(h.send(h.all, "GET", "/v1/server/transfers?after=forged", nil), wire.CodeBadRequest, "bad_request field=after")
	h.refused(h.send(h.all, "GET", "/v1/server/transfers?limit=1001", nil), wire.CodeBadRequest, "bad_request field=limit")
}

// TestHostExportsActs reads what two keys have done, with filters.
func TestHostExportsActs(t *testing.T) {
	h := newTestHost(t)
	shop := h.newKey("shop", hostapi.Money)
	credit := func(key, user string) {
		ok[wire.AdjustReply](h, h.send(key, "POST", "/v1/server/users/"+user+"/credit?reason=test", `{"amount":5,"note":"secret"}`, "Idempotency-Key", user))
	}
	credit(h.all, "ann")
	credit(shop, "ann")
	credit(shop, "bob")
	read := func(query string) (all []string) {
		for after, more := "", true; more; {
			page := get[hostapi.ActsReply](h, "acts?limit=1&after="+after+query)
			for _, a := range page.Acts {
				all = append(all, a.Actor+" "+a.Operation+" "+a.Request)
				if a.Reason != "test" || a.Client == "" || a.RequestID == "" || strings.Contains(a.Request, "secret") {
					t.Errorf("the act is %+v", a)
				}
			}
			after, more = page.Next, page.More
		}
		return all
	}
	ann, annShop, bob := `key/all credit {"amount":5,"user":"ann"}`, `key/shop credit {"amount":5,"user":"ann"}`, `key/shop credit {"amount":5,"user":"bob"}`
	for query, want := range map[string]int{"": 3, "&key=shop": 2, "&user=ann": 2, "&user=ann&key=all": 1, "&user=an": 0} {
		if got := read(query); len(got) != want {
			t.Errorf("acts with %q: %q, want %d", query, got, want)
		}
	}
	if got := read(""); !slices.Contains(got, ann) || !slices.Contains(got, annShop) || !slices.Contains(got, bob) {
		t.Errorf("acts %q", got)
	}
	h.refused(h.send(shop, "GET", "/v1/server/acts", nil), wire.CodeForbidden, "forbidden scope=admin")
	h.refused(h.send(h.all, "GET", "/v1/server/acts?after=forged", nil), wire.CodeBadRequest, "bad_request field=after")
}

// TestHostReadsThePacket reads all that is known of a packet, before and after its end.
func TestHostReadsThePacket(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob")
	as := func(user, command, body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, fmt.Sprintf(body, values...))
	}
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/credit", `{"amount":1000}`, "Idempotency-Key", "k"))
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","key":"r","members":["bob"]}`)).Room.ID
	packet := ok[wire.SendPacketReply](h, as("ann", "send_packet", `{"room":%q,"key":"p","mode":"equal","total":300,"count":1,"passphrase":"sesame"}`, room)).Packet.ID
	story := func() hostapi.PacketStory { return get[hostapi.PacketStory](h, "packets/"+packet) }
	if s := story(); s.Packet == nil || s.Packet.ID != packet || s.Status != "open" || s.Proof != nil || len(s.Transfers) != 1 || len(s.Entries) != 1 || s.ClosedAt != 0 {
		t.Errorf("the open packet: %+v", s)
	}
	if a := h.send(h.all, "GET", "/v1/server/packets/"+packet, nil); strings.Contains(string(a.body), "sesame") || strings.Contains(string(a.body), `"seed"`) || strings.Contains(string(a.body), `"shares"`) {
		t.Errorf("a secret of an open packet is in %s", a.body)
	}
	ok[wire.GrabReply](h, as("bob", "grab", `{"packet":%q,"passphrase":"sesame"}`, packet))
	deadline := time.Now().Add(20 * time.Second)
	for story().Status == "open" && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	s := story()
	if s.Status != "drained" || s.Proof == nil || s.Proof.Seed == "" || len(s.Claims) != 1 || s.Claims[0].User.ID != "bob" || s.Claims[0].Amount != 300 ||
		len(s.Transfers) != 2 || s.Transfers[1].User != "bob" || len(s.Entries) != 2 || s.Entries[1].Kind != "packet_done" || s.ClosedAt == 0 {
		t.Errorf("the finished packet: %+v", s)
	}
	h.refused(h.send(h.all, "GET", "/v1/server/packets/none", nil), wire.CodeNotFound, "not_found")
}

// TestLongRequestIDAndReason uses the longest texts that a credit can keep, and longer ones.
func TestLongRequestIDAndReason(t *testing.T) {
	h := newTestHost(t)
	for n, c := range []struct{ id, reason int }{{64, 200}, {65, 200}, {64, 201}} {
		a := h.send(h.all, "POST", "/v1/server/users/ann/credit?reason="+strings.Repeat("r", c.reason), `{"amount":1}`,
			"Idempotency-Key", fmt.Sprint(n), "X-Request-Id", strings.Repeat("i", c.id))
		if c.reason > 200 {
			h.refused(a, wire.CodeTooLong, "too_long field=reason")
			continue
		}
		ok[wire.AdjustReply](h, a)
		if got := a.header.Get("X-Request-Id"); (got == strings.Repeat("i", c.id)) != (c.id <= 64) {
			t.Errorf("an id of %d characters: the answer has %q", c.id, got)
		}
	}
}

// TestHostSpeaksAsTheSystem lets the host's back end say and do in a room what an owner may, without being a member.
func TestHostSpeaksAsTheSystem(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob", "cid")
	as := func(user, command, body string) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, body)
	}
	system := func(command, body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/system/"+command, fmt.Sprintf(body, values...))
	}
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","key":"r","kind":"private","members":["bob"]}`)).Room.ID

	first := ok[wire.SendReply](h, system("send", `{"room":%q,"key":"s","text":"closed at noon"}`, room))
	again := ok[wire.SendReply](h, system("send", `{"room":%q,"key":"s","text":"closed at noon"}`, room))
	if first.Dup || !again.Dup || again.Seq != first.Seq {
		t.Errorf("%+v, then %+v; want one text", first, again)
	}
	ok[wire.SetRoleReply](h, system("set_role", `{"room":%q,"user":"bob","role":"owner"}`, room))
	h.refused(system("kick", `{"room":%q,"user":"bob"}`, room), wire.CodeForbidden, "forbidden field=user")
	ok[wire.KickReply](h, system("kick", `{"room":%q,"user":"ann"}`, room))
	ok[wire.InviteReply](h, system("invite", `{"room":%q,"users":["cid"]}`, room))
	ok[wire.SeqReply](h, system("recall", `{"room":%q,"seq":%d}`, room, ok[wire.SendReply](h, as("bob", "send", fmt.Sprintf(`{"room":%q,"key":"b","text":"rude"}`, room))).Seq))

	members := ok[wire.MembersReply](h, system("members", `{"room":%q}`, room)).Members
	if len(members) != 2 || members[0].User.ID != "bob" || members[0].Role != "owner" || members[1].User.ID != "cid" {
		t.Errorf("members %+v, want the owner bob, and cid", members)
	}
	entries := ok[wire.HistoryReply](h, system("history", `{"room":%q}`, room)).Entries
	if e := entries[0]; e.From.ID != "~system" || e.From.Name != "System" || e.Kind != "text" {
		t.Errorf("the first entry is %+v, want a text of ~system", e)
	}
	h.refused(system("grab", `{"packet":"x"}`), wire.CodeUnknownCommand, "unknown_command")
	h.refused(h.send(h.newKey("chat-only", hostapi.Chat), "POST", "/v1/server/system/mute", `{}`), wire.CodeForbidden, "forbidden scope=moderate")
	ok[wire.DeleteRoomReply](h, system("delete_room", `{"room":%q}`, room))
	for _, command := range []string{"send", "history", "members", "update_room"} {
		h.refused(system(command, `{"room":%q,"key":"late","text":"late","name":"late"}`, room), wire.CodeNotFound, "not_found")
	}
	h.refused(h.send(h.all, "PUT", "/v1/server/users/~system", `{"name":"me"}`), wire.CodeBadRequest, "bad_request field=user")
}

func TestHostPutsManyUsers(t *testing.T) {
	h := newTestHost(t)
	put := func(users string) answer { return h.send(h.all, "POST", "/v1/server/users", `{"users":[`+users+`]}`) }
	var many []string
	for n := range 1000 {
		many = append(many, fmt.Sprintf(`{"user":"u%d","name":"User %d"}`, n, n))
	}
	if users := ok[hostapi.PutUsersReply](h, put(strings.Join(many, ","))).Users; len(users) != 1000 || users[999].Name != "User 999" {
		t.Errorf("%d users, the last is %+v", len(users), users[len(users)-1])
	}
	if act := h.act("put_users"); !strings.Contains(act.Request, `"u99"`) || strings.Contains(act.Request, "User 999") {
		t.Errorf("the act has %.100s, want ids without names", act.Request)
	}
	h.refused(put(strings.Join(append(many, many[0]), ",")), wire.CodeLimitExceeded, "limit_exceeded field=users")
	h.refused(put(""), wire.CodeBadRequest, "bad_request field=users")
	h.refused(put(`{"user":"new","name":"New"},{"user":"bad","name":""}`), wire.CodeBadRequest, "bad_request field=users[1].name")
	h.refused(h.send(h.all, "GET", "/v1/server/users/new", ""), wire.CodeNotFound, "not_found")
}

func TestHostKeepsItsOwnRecordsOfUsers(t *testing.T) {
	h := newTestHost(t)
	put := func(user, body string) answer { return h.send(h.all, "PUT", "/v1/server/users/"+user, body) }
	find := func(body string) []hostapi.User {
		t.Helper()
		return ok[hostapi.PutUsersReply](h, h.send(h.all, "POST", "/v1/server/users/find", body)).Users
	}
	u := ok[hostapi.UserReply](h, put("ann", `{"name":"Ann","ref":"customer-17","custom":{"tier": "gold", "n":[1]}}`)).User
	if u.Ref != "customer-17" || string(u.Custom) != `{"tier":"gold","n":[1]}` {
		t.Errorf("%+v with %s", u, u.Custom)
	}
	h.refused(put("bob", `{"ref":"customer-17"}`), wire.CodeConflict, "conflict field=ref")
	h.refused(put("bob", `{"ref":"with space"}`), wire.CodeBadRequest, "bad_request field=ref")
	h.refused(put("bob", `{"custom":[]}`), wire.CodeBadRequest, "bad_request field=custom")
	h.refused(put("bob", fmt.Sprintf(`{"custom":{"a":%q}}`, strings.Repeat("x", 4096))), wire.CodeTooLong, "too_long field=custom limit=4096")
	ok[hostapi.PutUsersReply](h, h.send(h.all, "POST", "/v1/server/users", `{"users":[{"user":"bob","ref":"customer-18"},{"user":"cid"}]}`))
	h.refused(h.send(h.all, "POST", "/v1/server/users", `{"users":[{"user":"dan"},{"user":"eve","ref":"customer-18"}]}`), wire.CodeConflict, "conflict field=users[1].ref")
	if found := find(`{"users":["cid","unseen"],"refs":["customer-17","customer-99"]}`); len(found) != 2 {
		t.Errorf("found %+v, want ann and cid", found)
	}
	if found := find(`{}`); len(found) != 0 {
		t.Errorf("found %+v for nothing", found)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/users/find", `{"users":["a b"]}`), wire.CodeBadRequest, "bad_request field=users[0]")

	var ids []string
	for next := ""; ; {
		page := ok[hostapi.ListUsersReply](h, h.send(h.all, "GET", "/v1/server/users?limit=2&next="+next, nil))
		for _, u := range page.Users {
			ids = append(ids, u.ID)
		}
		if next = page.Next; next == "" {
			break
		}
	}
	if got := strings.Join(ids, " "); got != "ann bob cid dan" {
		t.Errorf("listed %q", got)
	}
	if page := ok[hostapi.ListUsersReply](h, h.send(h.all, "GET", "/v1/server/users?ref_prefix=customer-", nil)); len(page.Users) != 2 || page.Users[1].ID != "bob" {
		t.Errorf("with the prefix: %+v", page.Users)
	}
	h.refused(h.send(h.all, "GET", "/v1/server/users?next=x", nil), wire.CodeBadRequest, "bad_request field=next")
	if act := h.act("put_user"); strings.Contains(act.Request, "gold") {
		t.Errorf("the act has %s, want it without the custom data", act.Request)
	}
}

func TestHostSuspendsAUser(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	suspend := func(key, user, what string) answer {
		return h.send(key, "POST", "/v1/server/users/"+user+"/"+what, nil)
	}
	chatOnly := h.newKey("chat-only", hostapi.Chat)
	h.refused(suspend(chatOnly, "ann", "suspend"), wire.CodeForbidden, "forbidden scope=moderate")
	first := ok[hostapi.UserReply](h, suspend(h.all, "ann", "suspend")).User
	again := ok[hostapi.UserReply](h, suspend(h.all, "ann", "suspend")).User
	if first.SuspendedAt == 0 || again.SuspendedAt != first.SuspendedAt {
		t.Errorf("%+v, then %+v", first, again)
	}
	if act := h.act("suspend_user"); !strings.Contains(act.Request, `"user":"ann"`) {
		t.Errorf("the act is %+v", act)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/as/ann/wallet", ""), wire.CodeSuspended, "suspended")
	ok[hostapi.UserReply](h, h.send(h.all, "PUT", "/v1/server/users/ann", `{"name":"Ann II"}`))
	if page := ok[hostapi.ListUsersReply](h, h.send(h.all, "GET", "/v1/server/users?suspended=true", nil)); len(page.Users) != 1 || page.Users[0].Name != "Ann II" {
		t.Errorf("suspended are %+v, want ann", page.Users)
	}
	if u := ok[hostapi.UserReply](h, suspend(h.all, "ann", "reinstate")).User; u.SuspendedAt != 0 {
		t.Errorf("reinstated: %+v", u)
	}
	ok[wire.WalletReply](h, h.send(h.all, "POST", "/v1/server/as/ann/wallet", ""))
	h.refused(suspend(h.all, "unseen", "reinstate"), wire.CodeNotFound, "not_found")
	h.refused(suspend(h.all, "a%20b", "suspend"), wire.CodeBadRequest, "bad_request field=user")
}

func TestHostKeepsRooms(t *testing.T) {
	h := newTestHost(t)
	create := func(body, key string) answer {
		return h.send(h.all, "POST", "/v1/server/rooms", body, "Idempotency-Key", key)
	}
	const order = `{"ref":"order-17","name":"Order 17","kind":"private","owner":"ann","members":["bob","cid"],"announcement":"hello","guests":false}`
	first := ok[hostapi.CreateRoomReply](h, create(order, "one"))
	again := ok[hostapi.CreateRoomReply](h, create(order, "one"))
	byRef := ok[hostapi.CreateRoomReply](h, create(order, "two"))
	r := first.Room
	if first.Dup || !again.Dup || !byRef.Dup || again.Room != r || byRef.Room != r {
		t.Errorf("%+v, then %+v and %+v; want the same room, made once", first, again, byRef)
	}
	if r.Ref != "order-17" || r.Owner != "ann" || r.Members != 3 || r.Kind != "private" || r.Announcement != "hello" || r.Guests || r.Invite != "admins" {
		t.Errorf("the room is %+v", r)
	}
	h.refused(create(`{"ref":"order-18","name":"Other","owner":"ann"}`, "one"), wire.CodeKeyReused, "key_reused")
	h.refused(create(`{"name":"","owner":"ann"}`, "three"), wire.CodeBadRequest, "bad_request field=name")
	h.refused(create(`{"name":"x","owner":"a b"}`, "three"), wire.CodeBadRequest, "bad_request field=owner")
	h.refused(create(`{"name":"x","owner":"ann","ref":"a b"}`, "three"), wire.CodeBadRequest, "bad_request field=ref")
	h.refused(h.send(h.all, "POST", "/v1/server/rooms", order), wire.CodeBadRequest, "bad_request field=Idempotency-Key")

	room := "/v1/server/rooms/" + r.ID
	if got := ok[hostapi.RoomReply](h, h.send(h.all, "GET", room, nil)).Room; got != r {
		t.Errorf("got %+v, want %+v", got, r)
	}
	if list := ok[hostapi.ListRoomsReply](h, h.send(h.all, "GET", "/v1/server/rooms?ref=order-17", nil)).Rooms; len(list) != 1 || list[0] != r {
		t.Errorf("the ref has %+v", list)
	}
	second := ok[hostapi.CreateRoomReply](h, create(`{"name":"Tea","owner":"bob"}`, "four")).Room
	page := ok[hostapi.ListRoomsReply](h, h.send(h.all, "GET", "/v1/server/rooms?limit=1", nil))
	if len(page.Rooms) != 1 || page.Rooms[0].ID != r.ID || page.Next == "" {
		t.Errorf("the first page is %+v", page)
	}
	if page := ok[hostapi.ListRoomsReply](h, h.send(h.all, "GET", "/v1/server/rooms?limit=1&next="+page.Next, nil)); len(page.Rooms) != 1 || page.Rooms[0].ID != second.ID || page.Next != "" {
		t.Errorf("the second page is %+v", page)
	}
	if got := ok[hostapi.RoomReply](h, h.send(h.all, "PUT", room, `{"name":"Order 17, paid","frozen":true}`)).Room; got.Name != "Order 17, paid" || !got.Frozen || got.Announcement != "hello" {
		t.Errorf("updated: %+v", got)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/as/ann/send", fmt.Sprintf(`{"room":%q,"key":"k","text":"x"}`, r.ID)), wire.CodeForbidden, "forbidden field=frozen")
	if got := ok[hostapi.RoomReply](h, h.send(h.all, "POST", room+"/owner", `{"user":"bob"}`)).Room; got.Owner != "bob" {
		t.Errorf("handed over: %+v", got)
	}
	h.refused(h.send(h.all, "POST", room+"/owner", `{"user":"nobody"}`), wire.CodeNotFound, "not_found field=user")
	history := ok[wire.HistoryReply](h, h.send(h.all, "GET", room+"/history?after=0&limit=2", nil))
	if len(history.Entries) != 2 || history.Entries[0].Kind != "room" || !history.More {
		t.Errorf("the history begins with %+v", history.Entries)
	}
	ok[wire.DeleteRoomReply](h, h.send(h.all, "DELETE", room, nil))
	h.refused(h.send(h.all, "GET", room, nil), wire.CodeNotFound, "not_found")
	if list := ok[hostapi.ListRoomsReply](h, h.send(h.all, "GET", "/v1/server/rooms?ref=order-17", nil)).Rooms; len(list) != 0 {
		t.Errorf("the ref of a deleted room has %+v", list)
	}
	if made := ok[hostapi.CreateRoomReply](h, create(order, "five")); made.Dup || made.Room.ID == r.ID {
		t.Errorf("after the deletion: %+v, want a new room", made)
	}
	h.refused(h.send(h.newKey("reader", hostapi.Read), "PUT", room, `{"name":"x"}`), wire.CodeForbidden, "forbidden scope=chat")
}

func TestHostChangesMembersInBulk(t *testing.T) {
	h := newTestHost(t)
	room := ok[hostapi.CreateRoomReply](h, h.send(h.all, "POST", "/v1/server/rooms", `{"name":"Hall","owner":"ann"}`, "Idempotency-Key", "r")).Room.ID
	path := "/v1/server/rooms/" + room
	const many = 9_998 // a request with two more has as many users as it may
	var users []string
	for n := range many {
		users = append(users, fmt.Sprintf("u%d", n))
	}
	ask := func(path string, users []string, announce bool) answer {
		return h.send(h.all, "POST", path, map[string]any{"users": users, "announce": announce})
	}
	h.known("u7")
	ok[wire.KickReply](h, h.send(h.all, "POST", "/v1/server/system/kick", fmt.Sprintf(`{"room":%q,"user":"u7","ban":true}`, room), "Idempotency-Key", "k"))
	done := ok[hostapi.MembersReply](h, ask(path+"/members", append(users, "ann", "u1"), true))
	if done.Changed != many-1 || done.Unchanged != 1 || len(done.Refused) != 1 || done.Refused[0] != (hostapi.RefusedMember{User: "u7", Why: "banned"}) {
		t.Errorf("added %+v", done)
	}
	entries := ok[wire.HistoryReply](h, h.send(h.all, "GET", path+"/history", nil)).Entries
	last := entries[len(entries)-1]
	var said wire.MemberBody
	if err := json.Unmarshal(last.Body, &said); err != nil || said.Change != "added" || said.Count != many-1 || len(said.Users) != 50 || said.User != said.Users[0] || last.From.ID != "~system" {
		t.Errorf("the last entry is %+v with %s, %v; want one for all that were added", last, last.Body, err)
	}
	if again := ok[hostapi.MembersReply](h, ask(path+"/members", users, true)); again.Changed != 0 || again.Unchanged != many-1 {
		t.Errorf("added again: %+v", again)
	}
	ok[wire.SendReply](h, h.send(h.all, "POST", "/v1/server/as/u999/send", fmt.Sprintf(`{"room":%q,"key":"k","text":"here"}`, room)))
	removed := ok[hostapi.MembersReply](h, ask(path+"/members/remove", append(users, "ann"), false))
	if removed.Changed != many-1 || removed.Unchanged != 1 || len(removed.Refused) != 1 || removed.Refused[0] != (hostapi.RefusedMember{User: "ann", Why: "forbidden field=users"}) {
		t.Errorf("removed %+v", removed)
	}
	if got := ok[hostapi.RoomReply](h, h.send(h.all, "GET", path, nil)).Room; got.Members != 1 || got.LastSeq != last.Seq+1 {
		t.Errorf("the room is %+v, want one member and no entry but the text", got)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/as/u999/send", fmt.Sprintf(`{"room":%q,"key":"l","text":"here"}`, room)), wire.CodeNotMember, "not_member")
	h.refused(ask(path+"/members", nil, false), wire.CodeBadRequest, "bad_request field=users")
	h.refused(ask(path+"/members", []string{"ok", "a b"}, false), wire.CodeBadRequest, "bad_request field=users[1]")
	h.refused(ask(path+"/members", slices.Repeat([]string{"one"}, 10_001), false), wire.CodeLimitExceeded, "limit_exceeded field=users limit=10000")
	h.refused(ask("/v1/server/rooms/none/members", []string{"new"}, false), wire.CodeNotFound, "not_found")
	h.refused(h.send(h.all, "GET", "/v1/server/users/new", nil), wire.CodeNotFound, "not_found")
}

func TestHostBansForATime(t *testing.T) {
	h := newTestHost(t)
	room := ok[hostapi.CreateRoomReply](h, h.send(h.all, "POST", "/v1/server/rooms", `{"name":"Hall","owner":"ann","members":["bob","cid"]}`, "Idempotency-Key", "r")).Room.ID
	kick := func(body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/system/kick", fmt.Sprintf(`{"room":%q,"ban":true,`, room)+fmt.Sprintf(body, values...)+`}`)
	}
	join := func() answer {
		return h.send(h.all, "POST", "/v1/server/as/bob/join", fmt.Sprintf(`{"room":%q}`, room))
	}
	bans := func() []hostapi.Ban {
		t.Helper()
		return ok[hostapi.BansReply](h, h.send(h.all, "GET", "/v1/server/rooms/"+room+"/bans", nil)).Bans
	}
	h.refused(kick(`"user":"bob","until":1000`), wire.CodeBadRequest, "bad_request field=until")
	h.refused(kick(`"user":"bob","reason":%q`, strings.Repeat("x", 201)), wire.CodeTooLong, "too_long field=reason")
	until := time.Now().Add(time.Second).UnixMilli()
	ok[wire.KickReply](h, kick(`"user":"bob","until":%d,"reason":"spam"`, until))
	ok[wire.KickReply](h, kick(`"user":"cid"`))
	if got := bans(); len(got) != 2 || got[0] != (hostapi.Ban{User: "bob", Until: until, Reason: "spam"}) || got[1] != (hostapi.Ban{User: "cid"}) {
		t.Errorf("the bans are %+v", got)
	}
	h.refused(join(), wire.CodeBanned, "banned")
	h.refused(h.send(h.all, "POST", "/v1/server/as/bob/history", fmt.Sprintf(`{"room":%q}`, room)), wire.CodeBanned, "banned") // from the cache from now on
	time.Sleep(time.Until(time.UnixMilli(until)))
	h.refused(h.send(h.all, "POST", "/v1/server/as/bob/history", fmt.Sprintf(`{"room":%q}`, room)), wire.CodeNotMember, "not_member")
	ok[wire.JoinReply](h, join())
	if got := bans(); len(got) != 1 || got[0].User != "cid" {
		t.Errorf("after its end the bans are %+v", got)
	}
	h.refused(h.send(h.all, "GET", "/v1/server/rooms/none/bans", nil), wire.CodeNotFound, "not_found")
}
