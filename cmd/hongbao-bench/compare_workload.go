package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"hongbao/chat"
	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/redpacket"
)

// workload is what all schemes have to do.
type workload struct {
	name     string // of its packets
	callers  int
	packets  int
	shares   int // of each packet
	grabbers int // of each packet
	mean     int64
	seed     uint64
	ttl      time.Duration
}

// attempt of one user at one packet.
type attempt struct{ packet, user int }

// String says it to people.
func (w workload) String() string {
	return fmt.Sprintf("%d callers; packets: %d, of %d shares; %d people grab each", w.callers, w.packets, w.shares, w.grabbers)
}

// id of a packet.
func (w workload) id(n int) string { return w.name + "-" + strconv.Itoa(n) }

// packet with its shares as we would cut them, the same for each seed. Schemes that cut by themselves do so.
func (w workload) packet(n int) (schemes.Packet, error) {
	var seed redpacket.Seed
	binary.BigEndian.PutUint64(seed[:], w.seed)
	binary.BigEndian.PutUint64(seed[8:], uint64(n))
	shares, err := redpacket.Cut(seed, redpacket.Packet{
		From: chat.User{ID: "sender"}, Key: w.id(n), Mode: redpacket.Lucky, Spread: redpacket.Classic,
		Total: redpacket.Money(w.mean) * redpacket.Money(w.shares), Count: w.shares,
	})
	p := schemes.Packet{ID: w.id(n), Sender: "sender", TTL: w.ttl}
	for _, s := range shares {
		p.Shares = append(p.Shares, int64(s))
	}
	return p, err
}

// all packets.
func (w workload) all() ([]schemes.Packet, error) {
	packets := make([]schemes.Packet, w.packets)
	for n := range packets {
		var err error
		if packets[n], err = w.packet(n); err != nil {
			return nil, err
		}
	}
	return packets, nil
}

// repeats is how many grabs there are to one that is made twice, by somebody who has pressed twice.
const repeats = 50

// attempts in their order: everybody grabs each packet once; some of them twice, at once; and for each packet the
// first comes again when all is over.
func (w workload) attempts() []attempt {
	r := rand.New(rand.NewPCG(w.seed, 0))
	var all []attempt
	for user := range w.grabbers {
		for packet := range w.packets {
			all = append(all, attempt{packet, user})
			if r.IntN(repeats) == 0 {
				all = append(all, attempt{packet, user})
			}
		}
	}
	for packet := range w.packets {
		all = append(all, attempt{packet, 0})
	}
	return all
}
