package scaled

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledStartsWithoutRedis starts three servers while Redis is down. Clients connect, chat across the servers and send
// packets; grabs are answered unavailable. When Redis starts, everything works without a restart of the servers.
func TestScaledStartsWithoutRedis(t *testing.T) {
	e2e.Parallel(t)
	redis := storetest.Redis(t)
	e2e.RestrictRedis(t, redis)
	redis.Kill()
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), redis, storetest.Database(t), e2e.Three()...)
	for _, s := range cluster.Servers {
		s.AwaitLog("Redis cannot be reached", 1)
		if status, text := s.OpsPage("healthz"); status != http.StatusOK {
			t.Errorf("/healthz without Redis: %d %s, want 200", status, text)
		}
		if status, text := s.OpsPage("readyz"); status != http.StatusOK || !strings.HasPrefix(text, "degraded\n") || !strings.Contains(text, redis.Addr()) ||
			!strings.Contains(text, "grabs answer unavailable") {
			t.Errorf("/readyz without Redis: %d %s, want 200, degraded, the address of Redis and that grabs answer unavailable", status, text)
		}
	}

	began := time.Now()
	// In busy every server has a speaker. In quiet only one server has: there a lost text shows no gap until another
	// text comes.
	busy, quiet := newConversation(t, cluster.Servers...), newConversation(t, cluster.Servers...)
	packet := busy.packet(len(busy.speakers))
	endBusy, endQuiet := busy.begin(0, 1, 2), quiet.begin(0)
	for _, client := range busy.speakers {
		mustBeUnavailable(t, client, packet)
	}
	busy.awaitMore(30)
	quiet.awaitMore(10)

	e2e.NoError(t, redis.Restart(context.Background()))
	up := time.Now()
	for _, client := range busy.speakers {
		reply := e2e.CallWithin[wire.GrabReply](client, 10*time.Second, "grab", wire.GrabRequest{Packet: packet})
		if reply.Amount != 100 { // the outcome is "already" if the win was stored late
			t.Errorf("%s: a grab with Redis is answered %+v, want 100", client.User.Name, reply)
		}
	}
	t.Logf("all have won %v after Redis is up", time.Since(up).Round(time.Millisecond))
	for _, client := range busy.speakers {
		client.Await(busy.room, "packet_done", func(e wire.Entry) bool { return e.Kind == "packet_done" })
	}
	t.Logf("all have received packet_done %v after Redis is up", time.Since(up).Round(time.Millisecond))
	e2e.MustTake(t, "packet_done after Redis is up", time.Since(up), 15*time.Second)
	for _, s := range cluster.Servers {
		s.AwaitLog("bus is up", 1)
		e2e.Eventually(t, 10*time.Second, s.URL.Host+" is ready", s.IsReady)
	}
	for _, s := range cluster.Servers {
		for _, clock := range []string{"Redis at " + redis.Addr(), "Postgres at "} {
			e2e.Eventually(t, 5*time.Second, "/metrics has the clock difference of "+clock, func() bool {
				_, text := s.OpsPage("metrics")
				return strings.Contains(text, `hongbao_clock_difference_seconds{clock="`+clock)
			})
		}
	}
	calm := time.Now()
	busy.awaitMore(20)
	quiet.awaitMore(7)
	endBusy()
	endQuiet()
	for _, c := range []*conversation{busy, quiet} {
		c.awaitAll()
		c.measureUsual("with Redis", period{calm, time.Now()})
		c.mustDeliver("without Redis", period{began, up}, atOwnServer, 2*time.Second)
		c.mustDeliver("while Redis starts", period{up, calm}, atOwnServer, 2*time.Second)
	}
	cluster.Front().MustBalance()
}

// TestScaledSchemaOfALaterVersion lets a later version migrate the database of three servers. They serve on, as during a rolling upgrade,
// and /readyz says that the schema is not theirs. No other server of this version starts, unless HONGBAO_MIGRATE is off.
func TestScaledSchemaOfALaterVersion(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	database := storetest.Database(t)
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), database, e2e.Three()...)
	stopped := cluster.Servers[2]
	talk := newConversation(t, cluster.Servers[:2]...)
	end := talk.begin(0, 1)
	e2e.RunSQL(t, database, "insert into schema_migrations values ('postgres/9999_later.sql', '1')")
	const why = "a newer version of hongbao has migrated this database: start that version, or restore a backup from before"
	for _, s := range cluster.Servers {
		if status, text := s.OpsPage("readyz"); status != http.StatusOK || !strings.HasPrefix(text, "degraded\nschema: "+why) {
			t.Errorf("/readyz: %d %s, want 200, degraded and why", status, text)
		}
	}
	stopped.Stop()
	if _, err := stopped.TryRestart(); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("started again: %v, want a refusal that says what to do", err)
	}
	back := stopped.RestartAs(e2e.Build(t, ""), "HONGBAO_MIGRATE=off") // as web/docs/runbooks.md says
	user := e2e.Connect(t, back, back.Guest("of the version before"), false)
	e2e.Call[wire.JoinReply](user, "join", wire.JoinRequest{Room: talk.room})
	if won := e2e.Call[wire.GrabReply](user, "grab", wire.GrabRequest{Packet: talk.packet(1)}); won.Amount == 0 {
		t.Errorf("a grab at it: %+v, want a share", won)
	}
	back.Stop()

	e2e.RunSQL(t, database, "delete from schema_migrations where name = 'postgres/9999_later.sql'")
	if status, text := stopped.Restart().OpsPage("readyz"); status != http.StatusOK || text != "ready\n" {
		t.Errorf("/readyz with the schema of before: %d %s, want 200 and ready", status, text)
	}
	end()
	talk.awaitAll()
}
