package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

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
	room := ok[wire.CreateRoomReply](h, as(h.all, "ann", "create_room", `{"name":"Tea","kind":"public","key":"r","members":["bob"]}`)).Room.ID
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

// TestHostPaysClaimsInQuarantine lists claims in quarantine page by page and retries them. A claim of an open packet must be paid
// once, and one of a packet that has ended must stay as it is.
func TestHostPaysClaimsInQuarantine(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob", "eve")
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/credit", `{"amount":1000}`, "Idempotency-Key", "one"))
	as := func(user, command, body string) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, body)
	}
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","key":"r","members":["bob","eve"]}`)).Room.ID
	packet := func(key string) string {
		return ok[wire.SendPacketReply](h, as("ann", "send_packet", fmt.Sprintf(`{"room":%q,"key":%q,"mode":"equal","total":300,"count":3}`, room, key))).Packet.ID
	}
	open, ended := packet("p1"), packet("p2")
	first, second := h.quarantine(open, "bob", 0), h.quarantine(ended, "eve", 2)
	ok[wire.CancelPacketReply](h, as("ann", "cancel_packet", fmt.Sprintf(`{"packet":%q}`, ended)))
	page := get[hostapi.QuarantineReply](h, "quarantine?limit=1")
	if len(page.Claims) != 1 || page.Claims[0].No != first || page.Claims[0].State != "unpaid" || page.Claims[0].Packet != open || page.Next != first {
		t.Errorf("first page: %+v", page)
	}
	if page = get[hostapi.QuarantineReply](h, fmt.Sprintf("quarantine?limit=1&after=%d", page.Next)); len(page.Claims) != 1 || page.Claims[0].No != second || page.Claims[0].State != "ended" || page.Next != 0 {
		t.Errorf("second page: %+v", page)
	}
	retry := func(key string, no int64) answer {
		return h.send(key, "POST", "/v1/server/quarantine/retry", fmt.Sprintf(`{"no":%d}`, no))
	}
	h.refused(retry(h.newKey("reader", hostapi.Read), first), wire.CodeForbidden, "forbidden scope=money")
	h.refused(retry(h.all, second+1), wire.CodeNotFound, "not_found")
	for range 2 {
		if got := ok[hostapi.RetryQuarantinedReply](h, retry(h.all, first)).Claim; got.State != "paid" {
			t.Errorf("claim of an open packet: %+v, want it paid", got)
		}
		if got := ok[hostapi.RetryQuarantinedReply](h, retry(h.all, second)).Claim; got.State != "ended" {
			t.Errorf("claim of an ended packet: %+v", got)
		}
	}
	for user, want := range map[string]int64{"bob": 100, "eve": 0} {
		if w := ok[wire.WalletReply](h, as(user, "wallet", "")); w.Balance != want {
			t.Errorf("%s has %d, want %d", user, w.Balance, want)
		}
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
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","kind":"public","key":"r","members":["bob"]}`)).Room.ID
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
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","kind":"public","key":"r","members":["bob"]}`)).Room.ID
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

// TestHostReadsThePacket reads all that is known of a packet, before and after its end.
func TestHostReadsThePacket(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob")
	as := func(user, command, body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, fmt.Sprintf(body, values...))
	}
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/credit", `{"amount":1000}`, "Idempotency-Key", "k"))
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","kind":"public","key":"r","members":["bob"]}`)).Room.ID
	packet := ok[wire.SendPacketReply](h, as("ann", "send_packet", `{"room":%q,"key":"p","mode":"equal","total":300,"count":1,"passphrase":"sesame"}`, room)).Packet.ID
	story := func() hostapi.PacketStory { return get[hostapi.PacketStory](h, "packets/"+packet) }
	if s := story(); s.Packet == nil || s.Packet.ID != packet || s.Status != "open" || s.Proof != nil || len(s.Transfers) != 1 || len(s.Entries) != 1 || s.ClosedAt != 0 {
		t.Errorf("the open packet: %+v", s)
	}
	if a := h.send(h.all, "GET", "/v1/server/packets/"+packet, nil); strings.Contains(string(a.body), "sesame") || strings.Contains(string(a.body), `"seed"`) || strings.Contains(string(a.body), `"shares"`) {
		t.Errorf("a secret of an open packet is in %s", a.body)
	}
	ok[wire.GrabReply](h, as("bob", "grab", `{"packet":%q,"passphrase":"sesame"}`, packet))
	s := awaitEnd(h, packet)
	if s.Status != "drained" || s.Proof == nil || s.Proof.Seed == "" || len(s.Claims) != 1 || s.Claims[0].User.ID != "bob" || s.Claims[0].Amount != 300 ||
		len(s.Transfers) != 2 || s.Transfers[1].User != "bob" || len(s.Entries) != 2 || s.Entries[1].Kind != "packet_done" || s.ClosedAt == 0 {
		t.Errorf("the finished packet: %+v", s)
	}
	h.refused(h.send(h.all, "GET", "/v1/server/packets/none", nil), wire.CodeNotFound, "not_found")
}

// awaitEnd waits until the packet has ended, which is soon after the answer to the last grab.
func awaitEnd(h *testHost, packet string) hostapi.PacketStory {
	deadline := time.Now().Add(time.Minute)
	for {
		s := get[hostapi.PacketStory](h, "packets/"+packet)
		if s.Status != "open" || time.Now().After(deadline) {
			return s
		}
		<-time.After(5 * time.Millisecond)
	}
}

// TestHostListsPacketsAndTransfers lists what belongs to a user or a room, also after the user was suspended.
func TestHostListsPacketsAndTransfers(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob")
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/credit?reason=first", `{"amount":1000,"note":"welcome"}`, "Idempotency-Key", "one"))
	as := func(user, command, body string) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, body)
	}
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","key":"r","members":["bob"]}`)).Room.ID
	packet := ok[wire.SendPacketReply](h, as("ann", "send_packet", fmt.Sprintf(`{"room":%q,"key":"p","mode":"equal","total":300,"count":1}`, room))).Packet.ID
	ok[wire.GrabReply](h, as("bob", "grab", fmt.Sprintf(`{"packet":%q}`, packet)))
	awaitEnd(h, packet)
	ok[hostapi.UserReply](h, h.send(h.all, "POST", "/v1/server/users/ann/suspend", nil))
	get := func(query string) answer { return h.send(h.all, "GET", "/v1/server/"+query, nil) }

	page := ok[hostapi.TransfersReply](h, get("transfers?user=ann&limit=1"))
	if len(page.Transfers) != 1 || page.Transfers[0].Kind != "send" || page.Transfers[0].User != "ann" || page.Transfers[0].Amount != -300 || !page.More {
		t.Errorf("ann's newest transfer: %+v", page)
	}
	page = ok[hostapi.TransfersReply](h, get("transfers?user=ann&after="+page.Next))
	if len(page.Transfers) != 1 || page.Transfers[0].Actor != "key/all" || page.Transfers[0].Reason != "first" || page.More || page.Next != "" {
		t.Errorf("the one before: %+v", page)
	}
	for query, mine := range map[string]bool{"user=ann": false, "user=bob&direction=received": true, "room=" + room: false} {
		found := ok[hostapi.ListPacketsReply](h, get("packets?"+query)).Packets
		if len(found) != 1 || found[0].Packet.ID != packet || found[0].State.Status != "drained" || (found[0].State.Mine != nil) != mine {
			t.Errorf("%s: %+v", query, found)
		}
	}
	if found := ok[hostapi.ListPacketsReply](h, get("packets?user=bob")).Packets; len(found) != 0 {
		t.Errorf("bob has sent %+v", found)
	}
	if found := ok[wire.MembersReply](h, get("rooms/"+room+"/members?limit=1")); len(found.Members) != 1 || found.Members[0].User.ID != "ann" || found.Next == "" {
		t.Errorf("the first member: %+v", found)
	}
	h.refused(get("packets"), wire.CodeBadRequest, "bad_request field=user")
	h.refused(get("packets?user=ann&room="+room), wire.CodeBadRequest, "bad_request field=user")
	h.refused(get("packets?direction=sent&room="+room), wire.CodeBadRequest, "bad_request field=direction")
	h.refused(get("packets?user=ann&from=2&to=1"), wire.CodeBadRequest, "bad_request field=to")
	h.refused(get("packets?user=ann&next=x"), wire.CodeBadRequest, "bad_request field=next")
	h.refused(get("transfers?user="), wire.CodeBadRequest, "bad_request field=user")
	h.refused(get("transfers?user=a%20b"), wire.CodeBadRequest, "bad_request field=user")
}
