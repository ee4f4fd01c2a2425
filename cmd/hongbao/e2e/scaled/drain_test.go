package scaled

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledDrain stops a server gracefully while clients chat: it reports that it is not ready, and still accepts clients of
// load balancers that have not noticed. Then its clients are closed with code 3001, reconnect to the others, and miss nothing.
func TestScaledDrain(t *testing.T) {
	e2e.Parallel(t)
	each := e2e.Three()
	each[0] = append(each[0], "HONGBAO_DRAIN_DELAY=10s")
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), storetest.Database(t), each...)
	leaving, staying := cluster.Servers[0], cluster.Servers[1:]
	c := newConversation(t, staying...)
	packet := c.packet(20)
	cluster.Balancer.Only(leaving)
	var clients []*e2e.Client
	for n := range 20 {
		client := e2e.Connect(t, cluster.Front(), leaving.Guest(fmt.Sprint("moving ", n)), n%2 == 1)
		e2e.Call[wire.JoinReply](client, "join", wire.JoinRequest{Room: c.room})
		clients = append(clients, client)
	}
	end := c.begin(0, 1)
	cluster.Balancer.Only(append([]*e2e.Server{leaving}, staying...)...)

	unready := make(chan bool, 1)
	go func() {
		for {
			select {
			case <-leaving.Exited():
				unready <- false
				return
			default:
			}
			if status, _ := leaving.Ready(); status == http.StatusServiceUnavailable {
				unready <- true
				return
			}
		}
	}()
	began := time.Now()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		leaving.Stop()
	}()
	if !<-unready {
		t.Error("/readyz of the stopping server answered 200 until it exited, want 503")
	}
	t.Logf("not ready %v after SIGTERM", time.Since(began).Round(time.Millisecond))
	late := e2e.Connect(t, leaving, leaving.Guest("late"), false)
	e2e.Call[wire.JoinReply](late, "join", wire.JoinRequest{Room: c.room})
	for _, client := range clients {
		reply := e2e.Call[wire.GrabReply](client, "grab", wire.GrabRequest{Packet: packet})
		if reply.Amount != 100 {
			t.Errorf("%s: a grab during the drain is answered %+v, want a share of 100", client.User.Name, reply)
		}
	}
	<-stopped
	t.Logf("exited after %v", time.Since(began).Round(time.Millisecond))
	for _, client := range clients {
		e2e.Eventually(t, 10*time.Second, client.User.Name+" is connected again and recovered", func() bool {
			connected, recovered := client.Connections()
			return connected == 2 && recovered == 1
		})
		if !slices.Contains(client.Closes(), 3001) {
			t.Errorf("%s was closed with codes %v, want 3001", client.User.Name, client.Closes())
		}
	}
	t.Logf("all clients are back after %v", time.Since(began).Round(time.Millisecond))
	end()
	c.say(0)
	c.awaitAll()
	last := c.sent[len(c.sent)-1].key
	for _, client := range clients {
		client.Await(c.room, "the last text", func(e wire.Entry) bool { return e.Key == last })
		client.MustHaveAll()
	}
	if claims := c.claims(packet); len(claims) != len(clients) {
		t.Errorf("the packet has %d claims, want %d", len(claims), len(clients))
	}
	cluster.Front().MustBalance()
}
