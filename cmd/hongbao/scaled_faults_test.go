package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// TestScaledFaults lets an engine fail under three servers while people play. At every moment the books balance; at
// the end what anyone was told is stored, and nothing is stuck.
func TestScaledFaults(t *testing.T) {
	binary := build(t, "")
	var all sync.WaitGroup
	for name, fault := range map[string]func(t *testing.T, binary string){
		"Redis flushed":             redisFlushed,
		"Redis killed":              redisKilled,
		"Redis killed, with AOF":    redisKilledWithAOF,
		"Redis restored from older": redisRestored,
		"two Redis masters":         twoMasters,
		"Postgres killed":           postgresKilled,
	} {
		all.Go(func() { t.Run(name, func(t *testing.T) { fault(t, binary) }) })
	}
	all.Wait()
}

// during has people play, and the fault happen in their midst.
func during(t *testing.T, i *installation, fault func()) {
	t.Helper()
	s := newScene(t)
	s.rounds = 300
	s.open(i.place())
	s.watchBooks()
	over := make(chan struct{})
	var playing sync.WaitGroup
	playing.Go(func() { s.play(over, time.Minute) })
	eventually(t, 30*time.Second, "the play is under way", func() bool { return s.acknowledged() >= 5 })
	fault()
	before := s.acknowledged()
	eventually(t, 40*time.Second, "the play goes on", func() bool { return s.acknowledged() >= before+10 })
	close(over)
	playing.Wait()
	s.after()
}

// redisOf is a client of the test's own.
func redisOf(t *testing.T, r *loopback.Redis) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: r.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func redisFlushed(t *testing.T, binary string) {
	i := install(t, binary, storetest.Redis(t), storetest.Database(t), three()...)
	c := redisOf(t, i.redis)
	during(t, i, func() {
		for range 3 {
			check(t, c.FlushAll(t.Context()).Err())
			lasts(300 * time.Millisecond)
		}
	})
}

func redisKilled(t *testing.T, binary string) {
	i := install(t, binary, storetest.Redis(t), storetest.Database(t), three()...)
	during(t, i, func() {
		i.redis.Kill()
		lasts(2 * time.Second)
		check(t, i.redis.Restart(context.Background()))
	})
}

func redisKilledWithAOF(t *testing.T, binary string) {
	i := install(t, binary, privateRedis(t, "--appendonly", "yes"), storetest.Database(t), three()...)
	during(t, i, func() {
		i.redis.Kill()
		check(t, i.redis.Restart(context.Background()))
	})
}

// redisRestored loses all that Redis wrote since a dump, but for what it had forgotten to forget.
func redisRestored(t *testing.T, binary string) {
	r := privateRedis(t, "--dbfilename", "dump.rdb")
	i := install(t, binary, r, storetest.Database(t), three()...)
	c := redisOf(t, r)
	during(t, i, func() {
		check(t, c.Save(t.Context()).Err())
		dir, err := c.ConfigGet(t.Context(), "dir").Result()
		check(t, err)
		dump := filepath.Join(dir["dir"], "dump.rdb")
		old, err := os.ReadFile(dump)
		check(t, err)
		lasts(1500 * time.Millisecond)
		r.Kill()
		check(t, os.WriteFile(dump, old, 0o644))
		check(t, r.Restart(context.Background()))
	})
}

// twoMasters promotes a replica while one server goes on talking to the old master; later there is only one.
func twoMasters(t *testing.T, binary string) {
	first, second := storetest.Redis(t), storetest.Redis(t)
	old, young := redisOf(t, first), redisOf(t, second)
	check(t, young.ReplicaOf(t.Context(), hostOf(first), portOf(first)).Err())
	early, late := openDoor(t), openDoor(t) // to Redis
	early.lead(first.Addr())
	late.lead(first.Addr())
	by := func(d *door) []string {
		return []string{"HONGBAO_REDIS_URL=redis://" + d.listener.Addr().String() + "/0"}
	}
	i := install(t, binary, first, storetest.Database(t), by(late), by(early), by(early))
	during(t, i, func() {
		check(t, young.ReplicaOf(t.Context(), "NO", "ONE").Err())
		early.lead(second.Addr())
		early.cut(1)
		lasts(4 * time.Second)
		check(t, old.ReplicaOf(t.Context(), hostOf(second), portOf(second)).Err()) // who still talks to it hears READONLY
		lasts(time.Second)
		late.lead(second.Addr())
		late.cut(1)
	})
}

func hostOf(r *loopback.Redis) string { host, _, _ := net.SplitHostPort(r.Addr()); return host }
func portOf(r *loopback.Redis) string { _, port, _ := net.SplitHostPort(r.Addr()); return port }

// lasts is how long a fault lasts.
func lasts(d time.Duration) { <-time.After(d) }

func postgresKilled(t *testing.T, binary string) {
	p := storetest.Postgres(t)
	database, err := p.NewDatabase(t.Context())
	check(t, err)
	i := install(t, binary, storetest.Redis(t), database, three()...)
	during(t, i, func() {
		p.Kill()
		lasts(2 * time.Second)
		check(t, p.Restart(context.Background()))
	})
}
