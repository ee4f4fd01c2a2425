// Package proxies tests instances behind the load balancers of web/docs/deploy, with the very files that stand there.
package proxies

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// balancer is one kind of load balancer, and how instances behind it are stopped.
type balancer struct {
	file       string
	start      func(ctx context.Context, dir string, conf func(port int) string) (*loopback.Balancer, error)
	listen     string // in the file; %d is the port of the test
	drainDelay string
}

var balancers = map[string]balancer{
	"nginx":   {"nginx.conf", loopback.StartNginx, "listen 127.0.0.1:%d;", "0s"},
	"HAProxy": {"haproxy.cfg", loopback.StartHAProxy, "bind 127.0.0.1:%d", "3s"},
}

// TestRollingRestart restarts all instances behind each load balancer, one after another, while a user sends texts. Every client
// must receive each text once and in order, and no command may fail but with a temporary error.
func TestRollingRestart(t *testing.T) {
	enginetest.Nightly(t, "whole")
	binary := e2e.Build(t, "")
	for name, b := range balancers {
		t.Run(name, func(t *testing.T) {
			b.replaceAll(t, func(each ...[]string) *e2e.Cluster {
				return e2e.StartCluster(t, binary, storetest.Redis(t), storetest.Database(t), each...)
			}, round{binary: binary})
		})
	}
}

// TestRollingUpgrade replaces instances of this version by those of a made-up next one, which has changed the schema before, beside them. Then
// it goes back to this version, as after a bad deploy. Otherwise it is TestRollingRestart.
func TestRollingUpgrade(t *testing.T) {
	enginetest.Nightly(t, "upgrade")
	binary, next := e2e.Build(t, ""), e2e.BuildNext(t, `
		alter table rooms add column next text not null default 'next' check (next <> '');
		alter table packets drop constraint packets_mode_check, add constraint packets_mode_check check (mode in ('lucky', 'equal', 'next')) not valid;
		create table next (id bigint primary key);
		create index transfers_next on transfers (amount)`, `create table next (id integer primary key) strict`)
	for name, b := range balancers {
		t.Run(name, func(t *testing.T) {
			database := storetest.Database(t)
			b.replaceAll(t, func(each ...[]string) *e2e.Cluster {
				return e2e.StartCluster(t, binary, storetest.Redis(t), database, each...)
			}, round{next, nil, func() { e2e.Migrate(t, next, database) }}, round{binary, []string{"HONGBAO_MIGRATE=off"}, nil})
		})
	}
}

// round replaces all instances by those of a version. prepare is called before, while users write; nil: nothing is prepared.
type round struct {
	binary    string
	variables []string
	prepare   func()
}

// replaceAll starts three instances, and replaces them in rounds.
func (b balancer) replaceAll(t *testing.T, start func(each ...[]string) *e2e.Cluster, rounds ...round) {
	var instances [3][]string
	var ops [3]string
	for n := range instances {
		ops[n] = e2e.FreeAddress(t)
		instances[n] = []string{"HONGBAO_TRUSTED_PROXIES=127.0.0.1", "HONGBAO_DRAIN_DELAY=" + b.drainDelay, "HONGBAO_OPS_ADDR=" + ops[n]}
	}
	cluster := start(instances[:]...)
	proxy, err := b.start(t.Context(), t.TempDir(), func(port int) string { return b.conf(t, port, cluster.Servers, ops[:]) })
	e2e.NoError(t, err)
	t.Cleanup(proxy.Stop)
	front := cluster.Behind(proxy.Addr())

	var clients []*e2e.Client
	var room string
	for n := range 12 {
		c := e2e.Connect(t, front, front.Guest(fmt.Sprint("user ", n)), n%2 == 1)
		if n == 0 {
			room = e2e.Call[wire.CreateRoomReply](c, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
		} else {
			e2e.Call[wire.JoinReply](c, "join", wire.JoinRequest{Room: room})
		}
		clients = append(clients, c)
	}
	stop, last := make(chan struct{}), make(chan string, 1)
	go func() {
		defer close(last) // also if a command fails, which ends this goroutine
		last <- talk(clients[0], room, stop)
	}()
	for _, r := range rounds {
		if r.prepare != nil {
			r.prepare()
		}
		for n, s := range cluster.Servers {
			s.Stop()
			cluster.Servers[n] = s.RestartAs(r.binary, r.variables...)
			e2e.Eventually(t, 20*time.Second, "the restarted instance accepts clients", func() bool {
				status, _ := cluster.Servers[n].Ready()
				return status == http.StatusOK
			})
			e2e.Eventually(t, 20*time.Second, "the load balancer sends clients to the restarted instance", func() bool {
				dial(t, proxy.Addr())
				return cluster.Servers[n].Metric("hongbao_connections") > 0
			})
		}
		if r.variables == nil { // otherwise the schema is newer than the program, which then audits nothing
			cluster.Servers[0].MustBalance()
		}
	}
	close(stop)
	final := <-last
	moved := 0
	for _, c := range clients {
		c.Await(room, "the last text", func(e wire.Entry) bool { return e.Key == final })
		c.MustHaveAll()
		if n, _ := c.Connections(); n > 1 {
			moved++
		}
	}
	if moved < len(clients)/2 {
		t.Errorf("%d of %d clients were moved to another instance, want most of them", moved, len(clients))
	}
	t.Logf("the last text is %s; %d of %d clients were moved, none missed anything", final, moved, len(clients))
}

// dial opens a socket that stays open until the test ends, or until the server closes it because it says nothing.
func dial(t *testing.T, addr string) {
	t.Helper()
	c, response, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+addr+"/v1/socket", nil)
	if err != nil { // the load balancer has not noticed yet that an instance is gone
		return
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = c.Close() })
}

// talk sends texts until stop is closed, and returns the key of the last one.
func talk(c *e2e.Client, room string, stop <-chan struct{}) (key string) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		key = fmt.Sprint("text-", n)
		e2e.Call[wire.SendReply](c, "send", wire.SendRequest{Room: room, Key: key, Text: key})
		select {
		case <-stop:
			return key
		case <-tick.C:
		}
	}
}

// TestServerAPIBehindNginx calls the server API through nginx, with the file of the documents. Nothing but the server API is behind it.
func TestServerAPIBehindNginx(t *testing.T) {
	enginetest.Nightly(t, "whole")
	binary, api := e2e.Build(t, ""), e2e.FreeAddress(t)
	key, variables := e2e.APIKey(t, binary, api)
	e2e.Start(t, binary, t.TempDir(), e2e.FreeAddress(t), variables...)
	proxy, err := loopback.StartNginx(t.Context(), t.TempDir(), func(port int) string {
		text := e2e.DeployFile(t, "nginx-api.conf")
		for n := range 3 {
			text = strings.Replace(text, fmt.Sprintf("hongbao-%d:8082", n+1), api, 1)
		}
		return inTestFolder(strings.Replace(text, "listen 8443;", fmt.Sprintf("listen 127.0.0.1:%d;", port), 1))
	})
	e2e.NoError(t, err)
	t.Cleanup(proxy.Stop)
	call := func(verb, path, body string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), verb, "http://"+proxy.Addr()+path, strings.NewReader(body))
		e2e.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(request)
		e2e.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		return response.StatusCode
	}
	many := `{"users":[{"user":"ann","custom":{"text":"` + strings.Repeat("x", 4000) + `"}}` + strings.Repeat(`,{"user":"bob","custom":{"text":"`+strings.Repeat("x", 4000)+`"}}`, 999) + `]}`
	for _, c := range []struct {
		verb, path, body string
		want             int
	}{
		{"PUT", "/v1/server/users/ann", `{"name":"Ann"}`, 200},
		{"POST", "/v1/server/users", many, 200},
		{"GET", "/v1/server/users/ann", "", 200},
		{"GET", "/v1/server/users/ann%40shop", "", 404},
		{"GET", "/v1/info", "", 404},
	} {
		if got := call(c.verb, c.path, c.body); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.verb, c.path, got, c.want)
		}
	}
}

// conf returns the file of the documents with the addresses of this test.
func (b balancer) conf(t *testing.T, port int, servers []*e2e.Server, ops []string) string {
	t.Helper()
	text, err := os.ReadFile("../../../../web/docs/deploy/" + b.file)
	e2e.NoError(t, err)
	listen, _, _ := strings.Cut(b.listen, " ")
	replace := []string{listen + " 8080;", fmt.Sprintf(b.listen, port), listen + " :8080", fmt.Sprintf(b.listen, port)}
	replace = append(replace, "maxconn 20000", "maxconn 1000") // a test may not open more files
	for n, s := range servers {
		replace = append(replace, fmt.Sprintf("hongbao-%d:8080 port 8081", n+1), s.URL.Host+" port "+ops[n][strings.LastIndex(ops[n], ":")+1:])
		replace = append(replace, fmt.Sprintf("hongbao-%d:8080", n+1), s.URL.Host)
	}
	return inTestFolder(strings.NewReplacer(replace...).Replace(string(text)))
}

// inTestFolder returns the settings with the folder of the test for bodies of requests, which nginx otherwise keeps where only root may write.
func inTestFolder(conf string) string {
	return strings.Replace(conf, "access_log off;", "access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;", 1)
}
