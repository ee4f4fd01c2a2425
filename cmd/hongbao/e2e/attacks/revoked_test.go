package attacks

import (
	"net/http"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// TestRevokedSocketWhileRedisIsDown pauses Redis and revokes a user on another server than the one that has the user's socket. The
// socket must be closed although the servers do not hear each other.
func TestRevokedSocketWhileRedisIsDown(t *testing.T) {
	enginetest.Nightly(t, "whole")
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), storetest.Database(t),
		[]string{"HONGBAO_JWT_SECRET=" + secret}, []string{"HONGBAO_JWT_SECRET=" + secret})
	for _, s := range cluster.Servers {
		s.AwaitLog("bus is up", 1)
	}
	c := e2e.Connect(t, cluster.Servers[1], wire.GuestReply{Token: hostToken(t, auth.Claims{User: "ann"}), User: wire.User{ID: "ann"}}, false)
	closed := make(chan uint32, 1)
	c.OnDisconnected(func(e centrifuge.DisconnectedEvent) { closed <- e.Code })
	cluster.Redis.Pause()
	t.Cleanup(cluster.Redis.Resume)
	for _, s := range cluster.Servers {
		s.AwaitLog("bus is down", 1)
	}
	mustAnswer(t, cluster.Servers[0], http.StatusOK, hostToken(t, auth.Claims{User: "root", Scope: auth.DefaultAdminScope}), "admin/disconnect", wire.DisconnectRequest{User: "ann"})
	select {
	case code := <-closed:
		if code != wire.CloseRevoked {
			t.Errorf("the socket was closed with %d, want %d", code, wire.CloseRevoked)
		}
	case <-time.After(20 * time.Second):
		e2e.TooSlow(t, "the socket of a revoked user is open 20s after the revocation")
	}
}
