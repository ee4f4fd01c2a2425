package redisstore

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/store/lineage"
	"hongbao/store/loopback"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// TestRightsOfTheACL uses each part of the store with the rights of web/docs/deploy/redis.acl only, on one server and on a cluster.
func TestRightsOfTheACL(t *testing.T) {
	t.Parallel()
	single, cluster := storetest.Redis(t), redistest.PartialCluster(t) // others take tokens of the shared ones
	for name, at := range map[string]struct {
		url   string
		nodes []*loopback.Redis
	}{
		"single":  {single.URL(), []*loopback.Redis{single}},
		"cluster": {cluster.URL(), cluster.Nodes()},
	} {
		t.Run(name, func(t *testing.T) {
			restrict(t, at.nodes)
			url := strings.Replace(at.url, "://", "://hongbao:CHANGE-ME@", 1)
			s, log := openLogged(t, url)
			useAll(t, s)
			if text := log.String(); text != "" {
				t.Errorf("logged %s", text)
			}
			storetest.TestBus(t, func(t *testing.T) (a, b hub.Bus) {
				one, _ := openLogged(t, url)
				two, _ := openLogged(t, url)
				return one.Bus([]byte("key")), two.Bus([]byte("key"))
			})
		})
	}
}

// restrict makes the user of the file on each node.
func restrict(t *testing.T, nodes []*loopback.Redis) {
	t.Helper()
	text, err := os.ReadFile("../../web/docs/deploy/redis.acl")
	noError(t, err)
	_, user, _ := strings.Cut(string(text), "\nuser ")
	command := []any{"acl", "setuser"}
	for rule := range strings.FieldsSeq(user) {
		command = append(command, rule)
	}
	for _, n := range nodes {
		c := redis.NewClient(&redis.Options{Addr: n.Addr()})
		noError(t, errors.Join(c.Do(t.Context(), command...).Err(), c.Close()))
	}
}

// useAll calls each part of the store, so that each script runs.
func useAll(t *testing.T, s *Store) {
	t.Helper()
	ctx, pool := t.Context(), s.Pool()
	for partition := range redpacket.Partitions {
		if err := redistest.Grab(t, s.Pool(), partition); err != nil {
			t.Errorf("grab in partition %d: %v", partition, err)
		}
		if _, err := pool.Close(ctx, redistest.InPartition(partition).Ref, redpacket.CloseEarly); err != nil {
			t.Errorf("close in partition %d: %v", partition, err)
		}
	}
	_, due := pool.Due(ctx, 10)
	claims, unsettled := pool.Unsettled(ctx, 0, new(redpacket.OutboxCursor), 100)
	_, clocks := pool.Clocks(ctx, time.Now)
	_, _, entered := s.Presence().Enter(ctx, "u", "socket", 1)
	_, online := s.Presence().Online(ctx, []string{"u"})
	_, left := s.Presence().Leave(ctx, "u", "socket")
	_, taken := s.Limiter().Take(ctx, "k", chat.Rate{PerSecond: 1, Burst: 1})
	var saved error
	for i := range mostNotes + 1 { // the last one deletes the oldest
		saved = errors.Join(saved, s.Notes().Save(ctx, fmt.Sprint("instance ", i), lineage.Note{At: time.Now()}))
	}
	_, loaded := s.Notes().Load(ctx)
	for call, err := range map[string]error{
		"due": due, "unsettled": unsettled, "ack": pool.Ack(ctx, claims), "recount": pool.Recount(ctx, 0), "clocks": clocks, "ready": s.Ready(ctx),
		"enter": entered, "online": online, "leave": left, "take": taken, "save": saved, "load": loaded,
	} {
		if err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
	if len(claims) == 0 {
		t.Error("no claim is unsettled, so Ack has done nothing")
	}
}

// TestReadyRunsWhatAGrabRuns takes from a running store what a grab needs: free memory, the rights to run scripts, to write, and to use
// the keys of packets. The store must not be ready until it has that again.
func TestReadyRunsWhatAGrabRuns(t *testing.T) {
	t.Parallel()
	server := storetest.Redis(t)
	restrict(t, []*loopback.Redis{server})
	s, _ := openLogged(t, strings.Replace(server.URL(), "://", "://hongbao:CHANGE-ME@", 1))
	operator := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = operator.Close() })
	do := func(command string) {
		t.Helper()
		var args []any
		for word := range strings.FieldsSeq(command) {
			args = append(args, word)
		}
		if err := operator.Do(t.Context(), args...).Err(); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
	}
	for _, fault := range []struct{ take, back string }{
		{"config set maxmemory 1", "config set maxmemory 0"},
		{"acl setuser hongbao -eval -evalsha", "acl setuser hongbao +eval +evalsha"},
		{"acl setuser hongbao -hset", "acl setuser hongbao +hset"},
		{"acl setuser hongbao resetkeys ~on:* ~rate:* ~notes", "acl setuser hongbao ~rp:*"},
	} {
		if err := s.Ready(t.Context()); err != nil {
			t.Errorf("before %s: %v", fault.take, err)
		}
		do(fault.take)
		if err := s.Ready(t.Context()); !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("after %s: %v, want unavailable", fault.take, err)
		}
		do(fault.back)
	}
	if due, err := s.Pool().Due(t.Context(), 10); err != nil || len(due) > 0 || s.Ready(t.Context()) != nil {
		t.Errorf("at the end: %v are due, %v", due, err)
	}
}
