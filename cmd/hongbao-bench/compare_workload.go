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

// workload describes the packets and grabs that every scheme has to handle.
type workload struct {
	name     string // prefix of the packets' ids
	callers  int
	packets  int
	shares   int // of each packet
	grabbers int // users that grab each packet
	mean     int64
	seed     uint64
	ttl      time.Duration
}

// shareOnAverage is the mean share in minor units.
const shareOnAverage = 100

// attempt is a grab of one user for one packet.
type attempt struct{ packet, user int }

// String describes the workload for reports.
func (w workload) String() string {
	return fmt.Sprintf("%d callers; packets: %d, of %d shares; %d users grab each", w.callers, w.packets, w.shares, w.grabbers)
}

// id returns the id of the n-th packet.
func (w workload) id(n int) string { return w.name + "-" + strconv.Itoa(n) }

// packet returns the n-th packet. Its shares are cut as redpacket cuts them, and equal in each run with the same seed.
// Schemes that cut by themselves use only their sum and number.
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

// all returns all packets.
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

// members returns the number of users of all packets. With many packets it is so large that grabs at about the same
// time are of different users: no wallet is hot.
func (w workload) members() int {
	if w.packets == 1 {
		return w.grabbers
	}
	return max(w.grabbers, 10_000)
}

// grabber returns the n-th user that grabs the packet.
func (w workload) grabber(packet, n int) attempt {
	return attempt{packet, (n + 101*packet) % w.members()}
}

// repeats says how many grabs are sent twice in a row: on average one grab in this many.
const repeats = 50

// attempts returns the grabs in order. For each packet, as many users as grabbers says grab it once, some of them twice in a
// row. At the end the first user of each packet grabs it again.
func (w workload) attempts() []attempt {
	r := rand.New(rand.NewPCG(w.seed, 0))
	var all []attempt
	for n := range w.grabbers {
		for packet := range w.packets {
			all = append(all, w.grabber(packet, n))
			if r.IntN(repeats) == 0 {
				all = append(all, w.grabber(packet, n))
			}
		}
	}
	for packet := range w.packets {
		all = append(all, w.grabber(packet, 0))
	}
	return all
}
