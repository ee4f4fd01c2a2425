package redpacket_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore"
	"hongbao/store/redisstore"
	"hongbao/store/storetest"
)

const (
	manyClosing = 288             // packets of one room with the same deadline
	closeInTime = 5 * time.Second // limit from the deadline until the last of them is closed
)

// TestManyPacketsEndTogether lets 288 packets of one room expire at the same moment, at three instances, while users grab until the
// deadline. All must be closed within 5 s, and the books must balance.
func TestManyPacketsEndTogether(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	s := newScaledServices(t, "boss")
	log := slog.New(slog.DiscardHandler)
	redisURL := storetest.Redis(t).URL()
	var services []*redpacket.Service
	for range 3 {
		ledger, err := pgstore.Open(t.Context(), s.url, log)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ledger.Close() })
		redis, err := redisstore.Open(t.Context(), redisURL, log)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = redis.Close() })
		rooms := chat.New(ledger, &recorder{}, chat.Options{Log: log})
		services = append(services, redpacket.New(ledger, redis.Pool(), rooms, &recorder{}, redpacket.Options{Log: log}))
	}
	users := make([]string, 40)
	for i := range users {
		users[i] = fmt.Sprint("user-", i)
		s.signIn(t, users[i])
		if _, err := s.rooms.Join(t.Context(), person(users[i]), s.room); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(15 * time.Second).Truncate(time.Millisecond)
	packets := make([]string, manyClosing)
	for i := range packets {
		id := chat.NewID(time.Now())
		account, err := s.ledger.Account(t.Context(), "boss")
		if err != nil {
			t.Fatal(err)
		}
		sent, err := s.ledger.Send(t.Context(), redpacket.UnsealedPacket{
			Packet: redpacket.Packet{
				Ref: redpacket.Ref{ID: id}, Room: s.room, From: person("boss"), Mode: redpacket.Equal, Total: 1000, Count: 100,
				CreatedAt: time.Now(), ExpiresAt: deadline, Key: id, Commitment: account.NextCommitment,
			},
			Hash: []byte(id), NextSeed: redpacket.NewSeed(), EntryID: "e-" + id,
		})
		if err != nil {
			t.Fatal(err)
		}
		packets[i] = sent.Packet.ID
	}
	t.Logf("sent %v before the deadline", time.Until(deadline))
	ctx, cancel := context.WithCancel(context.Background())
	var running, grabs sync.WaitGroup
	for _, service := range services {
		running.Go(func() { _ = service.Run(ctx) })
	}
	defer running.Wait()
	defer cancel()
	time.Sleep(time.Until(deadline.Add(-40 * time.Millisecond))) // sleeps: the deadline of real instances must come
	for i, packet := range packets {
		for n := range 30 {
			service := services[n%3]
			grabs.Go(func() {
				_, _ = service.Grab(ctx, redpacket.GrabRequest{User: users[(i+n)%len(users)], Packet: packet})
			})
		}
	}
	for open := manyClosing; open > 0; {
		time.Sleep(50 * time.Millisecond) // sleeps: polls other instances
		left, err := s.ledger.Overdue(t.Context(), deadline.Add(time.Second), redpacket.Overdue{}, manyClosing)
		if err == nil {
			open = len(left)
		}
		if time.Since(deadline) > time.Minute {
			t.Fatalf("%d packets are open after a minute: %v", open, err)
		}
	}
	took := time.Since(deadline)
	grabs.Wait()
	failed := int64(0)
	for _, service := range services {
		failed += service.Stats().CloseFailures
	}
	t.Logf("closed %v after the deadline; %d closes failed", took, failed)
	if took > closeInTime {
		t.Errorf("the last packet was closed %v after the deadline, want at most %v", took, closeInTime)
	}
	if a, err := s.ledger.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Errorf("audit: %v, %v", a.Differences, err)
	}
}
