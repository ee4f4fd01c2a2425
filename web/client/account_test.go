package client_test

import (
	"encoding/json"
	"testing"

	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// accountAfter pushes an unrelated event and waits for it, so that the client has processed all earlier pushes. It
// returns the client's account then.
func (s *scriptedServer) accountAfter(c *client.Client) model.Account {
	s.t.Helper()
	s.push(map[string]any{"applause": map[string]any{}})
	await(s.t, c, func(model.OtherEvent) bool { return true })
	return c.Account()
}

func (s *scriptedServer) wallet(balance, version int64, commitment string) {
	s.push(wire.Message{Wallet: &wire.WalletPush{Balance: balance, AccountVersion: version, Kind: "claim", NextCommitment: commitment}})
}

// TestAccountKeepsHighestVersion sends replies and pushes out of order. An older one must not change the account.
func TestAccountKeepsHighestVersion(t *testing.T) {
	replies := make(chan any, 1)
	s := newScriptedServer(t, wire.ConnectData{User: wire.User{ID: "ann"}, Balance: 100, AccountVersion: 4, NextCommitment: "c4"},
		func(string, json.RawMessage) any { return <-replies })
	c := s.client()
	must[model.Account](t)(c.Ready(soon(t)))
	wants := func(when string, balance, version int64, commitment string) {
		t.Helper()
		want := model.Account{Balance: balance, Version: version, NextCommitment: commitment}
		if got := s.accountAfter(c); got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	call := func(method string, with any) {
		t.Helper()
		replies <- with
		if err := c.Call(soon(t), method, struct{}{}, &struct{}{}); err != nil {
			t.Fatal(err)
		}
	}

	s.wallet(90, 3, "c3")
	wants("a push older than the connect reply", 100, 4, "c4")
	s.wallet(120, 7, "c7")
	s.wallet(110, 6, "c6")
	wants("two pushes crossed", 120, 7, "c7")
	call("wallet", wire.WalletReply{Balance: 0, AccountVersion: 0, NextCommitment: "c0"})
	wants("a reply from before the first change", 120, 7, "c7")
	call("send_packet", wire.SendPacketReply{Balance: 105, AccountVersion: 5, NextCommitment: "c5"})
	wants("an older reply", 120, 7, "c7")
	balance := int64(130)
	call("grab", wire.GrabReply{Outcome: "won", Balance: &balance, AccountVersion: 9})
	wants("a reply without a commitment", 130, 9, "c7")
	s.wallet(125, 8, "c8")
	wants("an older push with a newer commitment", 130, 9, "c8")
	call("cancel_packet", wire.CancelPacketReply{Balance: 140, AccountVersion: 10})
	wants("a newer reply", 140, 10, "c8")
	s.wallet(140, 10, "c10")
	wants("a push of the same version", 140, 10, "c10")

	s.setConnect(wire.ConnectData{User: wire.User{ID: "bob"}, Balance: 5, AccountVersion: 1, NextCommitment: "b1"}, "e")
	s.closeSocket(wire.CloseDrain)
	await(t, c, func(e model.Connected) bool { return e.Again })
	wants("another user", 5, 1, "b1")
	s.wallet(6, 2, "b2")
	wants("a push of theirs", 6, 2, "b2")
}

// TestWalletEventHasTheNewestAccount pushes an older change after a newer one. The event must have the older change and
// the newest account.
func TestWalletEventHasTheNewestAccount(t *testing.T) {
	s := newScriptedServer(t, wire.ConnectData{User: wire.User{ID: "ann"}}, func(string, json.RawMessage) any { return nil })
	c := s.client()
	must[model.Account](t)(c.Ready(soon(t)))
	push := func(balance, change, version int64) {
		s.push(wire.Message{Wallet: &wire.WalletPush{Balance: balance, Change: change, AccountVersion: version, Kind: "claim", NextCommitment: "c"}})
	}
	push(15, 5, 2)
	push(10, 10, 1)
	if w := await(t, c, func(w model.Wallet) bool { return w.Change == 10 }); w.Account.Balance != 15 || w.Account.Version != 2 {
		t.Errorf("%+v", w)
	}
}
