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

// serviceRound grabs a batch through the service: decided by Redis, committed in Postgres, then answered.
type serviceRound struct {
	batch
	house   *house
	packets []redpacket.Packet
	told    [][]atomic.Int64 // of each packet, by rank: what its winner was told
}

const shareOnAverage = 100

// send sends the packets of the round.
func (h *house) send(ctx context.Context, b batch, name string) (*serviceRound, error) {
	r := &serviceRound{batch: b, house: h, packets: make([]redpacket.Packet, b.packets)}
	numbers := make([]int, b.packets)
	for i := range numbers {
		numbers[i] = i
		r.told = append(r.told, make([]atomic.Int64, b.shares))
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
	user := r.house.members[grabber(p, before, len(r.house.members))].ID
	got, err := r.house.packets.Grab(ctx, redpacket.Try{User: user, Packet: r.packets[p].ID})
	switch {
	case err != nil:
		return err
	case got.Outcome != redpacket.OutcomeWon || got.Amount < 1 || got.Rank < 1 || got.Rank > r.shares:
		return fmt.Errorf("grab %d: %+v", i, got)
	case !r.told[p][got.Rank-1].CompareAndSwap(0, int64(got.Amount)):
		return fmt.Errorf("two have won share %d of packet %s", got.Rank, got.Packet)
	}
	return nil
}

// grabber is who comes after so many others to a packet: somebody else for its neighbours in time, so that nobody's
// wallet is a hot one.
func grabber(packet, before, members int) int { return (before + 101*packet) % members }

// check sees that the books hold what was told, no more and no less.
func (r *serviceRound) check(ctx context.Context, done int) error {
	var stored atomic.Int64
	numbers := make([]int, len(r.packets))
	for i := range numbers {
		numbers[i] = i
	}
	err := each(ctx, numbers, func(ctx context.Context, p int) error {
		book, err := r.house.ledger.Book(ctx, r.packets[p].ID)
		if err != nil {
			return err
		}
		stored.Add(int64(len(book.Claims)))
		for _, c := range book.Claims {
			if told := r.told[p][c.Share].Load(); told != int64(c.Amount) {
				return fmt.Errorf("packet %s, share %d: told %d, stored %d", book.Packet.ID, c.Share, told, c.Amount)
			}
		}
		return nil
	})
	if err == nil && stored.Load() != int64(done) {
		err = fmt.Errorf("%d grabs were won, %d are stored", done, stored.Load())
	}
	return err
}
