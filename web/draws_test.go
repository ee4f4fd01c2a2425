package web

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/redpacket/proof"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// TestDrawOverHTTP sends a draw, lets users enter, and checks its proof and the receipts as a client without the server does.
func TestDrawOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTestServer(t)
		h := s.Handler()
		token := func(user string) string { return mint(t, auth.Claims{User: user}, time.Hour) }
		ann := s.signIn(t, "ann", 1000)
		room := s.room(t, ann, "hall").ID
		sent := call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "draw", Total: 100, Count: new(1), WindowS: new(int64(10)), Rest: "share"})
		if p := sent.Packet; p.WindowS != 10 || p.Rest != "share" || p.ExpiresAt != p.CreatedAt+10_000 {
			t.Fatalf("sent %+v", p)
		}
		path := "/v1/packets/" + sent.Packet.ID + "/proof"
		var receipts []wire.Receipt
		for _, user := range []string{"bob", "cy", "bob"} {
			c := s.signIn(t, user, 0)
			call[wire.JoinReply](t, s, c, "join", wire.JoinRequest{Room: room})
			got := call[wire.GrabReply](t, s, c, "grab", wire.GrabRequest{Packet: sent.Packet.ID})
			if got.Outcome != "entered" || got.Receipt == nil {
				t.Fatalf("%s: %+v", user, got)
			}
			receipts = append(receipts, *got.Receipt)
		}
		if receipts[0] != receipts[2] {
			t.Error("a repeated grab has another receipt")
		}
		mustAnswer[wire.ErrorBody](t, ask(t, h, "GET", path, "", ""), 401)
		mustAnswer[wire.ErrorBody](t, ask(t, h, "GET", path, token("stranger"), ""), 404)
		mustAnswer[wire.ErrorBody](t, ask(t, h, "GET", path, token("bob"), ""), 409)
		mustAnswer[wire.ErrorBody](t, ask(t, h, "GET", "/v1/packets/nothing/proof", token("bob"), ""), 404)
		time.Sleep(11 * time.Second)
		synctest.Wait()

		document := mustAnswer[proof.Document](t, ask(t, h, "GET", path, token("bob"), ""), 200)
		if _, err := proof.Check(document); err != nil {
			t.Error(err)
		}
		keys := mustAnswer[wire.ReceiptKeysReply](t, ask(t, h, "GET", "/v1/receipt-keys", "", ""), 200).Keys
		public, err := hex.DecodeString(keys[len(keys)-1])
		noError(t, err)
		for _, r := range receipts {
			text, err := json.Marshal(r)
			noError(t, err)
			var receipt proof.Receipt
			noError(t, json.Unmarshal(text, &receipt)) // the object of the wire is the one that verifiers read
			if err := proof.CheckReceipt(ed25519.PublicKey(public), document, receipt); err != nil {
				t.Errorf("receipt of %s: %v", r.User, err)
			}
		}
		got := call[wire.PacketReply](t, s, s.signIn(t, "cy", 0), "packet", wire.PacketRequest{Packet: sent.Packet.ID})
		if d := got.State.Draw; got.State.Status != "drained" || d == nil || d.Participants != 2 || d.Root != document.Waves[0].Root || *d.Receipt != receipts[1] {
			t.Errorf("the state is %+v, %+v", got.State, got.State.Draw)
		}
		s.mustBalance(t)
	})
}
