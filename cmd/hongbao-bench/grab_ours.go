package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/redpacket"
)

// serviceRound is one round in which the service grabs a batch: Redis decides, Postgres commits, and then the grab is
// answered.
type serviceRound struct {
	batch
	services *services
	packets  []redpacket.Packet
	answered [][]atomic.Int64 // the amount in the winner's answer, by packet and rank
}

const shareOnAverage = 100

// send sends the packets of a round, whose names begin with name.
func (h *services) send(ctx context.Context, b batch, name string) (*serviceRound, error) {
	r := &serviceRound{batch: b, services: h, packets: make([]redpacket.Packet, b.packets)}
	numbers := make([]int, b.packets)
	for i := range numbers {
		numbers[i] = i
		r.answered = append(r.answered, make([]atomic.Int64, b.shares))
	}
	err := each(ctx, numbers, func(ctx context.Context, i int) error {
		sent, err := h.packets.Send(ctx, h.members[i%h.senders], redpacket.SendRequest{
			Room: h.room, Key: name + "-" + strconv.Itoa(i), Total: redpacket.Money(shareOnAverage * b.shares), Count: b.shares, TTL: time.Hour,
		})
		r.packets[i] = sent.Packet
		return err
	})
	return r, err
}

func (r *serviceRound) play(ctx context.Context, crowd measure.Crowd) (measure.Round, error) {
	played, err := crowd.Call(ctx, func(ctx context.Context, i int) (bool, error) {
		if i >= r.all() {
			return false, nil
		}
		return true, r.grab(ctx, i)
	})
	if err == nil {
		err = r.check(ctx, played.Done)
	}
	return played, err
}

func (r *serviceRound) grab(ctx context.Context, i int) error {
	p, before := r.place(i)
	user := r.services.members[grabber(p, before, len(r.services.members))].ID
	got, err := r.services.packets.Grab(ctx, redpacket.GrabRequest{User: user, Packet: r.packets[p].ID})
	switch {
	case err != nil:
		return err
	case got.Outcome != redpacket.OutcomeWon || got.Amount < 1 || got.Rank < 1 || got.Rank > r.shares:
		return fmt.Errorf("grab %d: %+v", i, got)
	case !r.answered[p][got.Rank-1].CompareAndSwap(0, int64(got.Amount)):
		return fmt.Errorf("share %d of packet %s is won twice", got.Rank, got.Packet)
	}
	return nil
}

// grabber returns the number of the member that makes a grab of the packet, after before other grabs of it. Grabs at
// about the same time have different members, so no wallet is hot.
func grabber(packet, before, members int) int { return (before + 101*packet) % members }

// check compares the books with the answers of the round. done is the number of grabs.
func (r *serviceRound) check(ctx context.Context, done int) error {
	var stored atomic.Int64
	numbers := make([]int, len(r.packets))
	for i := range numbers {
		numbers[i] = i
	}
	err := each(ctx, numbers, func(ctx context.Context, p int) error {
		book, err := r.services.ledger.Book(ctx, r.packets[p].ID)
		if err != nil {
			return err
		}
		stored.Add(int64(len(book.Claims)))
		for _, c := range book.Claims {
			if answered := r.answered[p][c.Share].Load(); answered != int64(c.Amount) {
				return fmt.Errorf("packet %s, share %d: answered %d, stored %d", book.Packet.ID, c.Share, answered, c.Amount)
			}
		}
		return nil
	})
	if err == nil && stored.Load() != int64(done) {
		err = fmt.Errorf("%d grabs were won, %d are stored", done, stored.Load())
	}
	return err
}
