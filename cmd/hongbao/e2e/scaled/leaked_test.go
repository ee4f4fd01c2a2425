package scaled

import (
	"net/http"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestLeakedKeys replaces the key of the bus and that of guests, as web/docs/runbooks.md says. Old tokens are refused, and the instances
// hear each other.
func TestLeakedKeys(t *testing.T) {
	database := storetest.Database(t)
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), database, nil, nil)
	old := cluster.Front().Guest("old")
	if status, answer, err := cluster.Servers[0].Post(old.Token, "commands/contacts", struct{}{}); status != http.StatusOK {
		t.Fatalf("contacts before: %d %s, %v", status, answer, err)
	}
	for _, s := range cluster.Servers {
		s.Stop()
	}
	e2e.RunSQL(t, database, "delete from settings where name = 'bus_key'")
	for n, s := range cluster.Servers {
		cluster.Servers[n] = s.RestartAs(e2e.Build(t, ""), "HONGBAO_GUEST_KEY="+"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff")
		cluster.Servers[n].AwaitLog("bus is up", 1)
	}
	if status, answer, err := cluster.Servers[0].Post(old.Token, "commands/contacts", struct{}{}); status != http.StatusUnauthorized {
		t.Errorf("contacts with a token of the old key: %d %s, %v, want 401", status, answer, err)
	}
	speaker := e2e.Connect(t, cluster.Servers[0], cluster.Servers[0].Guest("speaker"), false)
	listener := e2e.Connect(t, cluster.Servers[1], cluster.Servers[1].Guest("listener"), false)
	room := e2e.Call[wire.CreateRoomReply](speaker, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room"}).Room.ID
	e2e.Call[wire.JoinReply](listener, "join", wire.JoinRequest{Room: room})
	e2e.Call[wire.SendReply](speaker, "send", wire.SendRequest{Room: room, Key: "text", Text: "text"})
	listener.Await(room, "the text", func(e wire.Entry) bool { return e.Key == "text" })
	for _, s := range cluster.Servers {
		if n := s.Metric("hongbao_bus_forged_total"); n != 0 {
			t.Errorf("%s: hongbao_bus_forged_total is %v, want 0", s.URL, n)
		}
	}
}
