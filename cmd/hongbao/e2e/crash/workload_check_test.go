package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/redpacket/proof"
	"hongbao/web/wire"
)

// auditContinuously audits again and again until the test ends: the money must add up at every moment.
func (w *workload) auditContinuously() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	audits := 0
	go func() {
		defer close(ended)
		for pause(ctx) {
			report, err := w.server.TryAudit()
			if err != nil {
				continue // Postgres is away
			}
			audits++
			for _, d := range report.Differences {
				w.t.Errorf("an audit during the fault found a difference: %s %s: %s", d.Kind, d.ID, d.What)
			}
		}
	}()
	w.t.Cleanup(func() {
		cancel()
		<-ended
		if audits == 0 {
			w.t.Errorf("no audit ran during the fault")
		}
	})
}

// check verifies, after the fault, all guarantees of the server.
func (w *workload) check() {
	w.t.Helper()
	w.restarted = time.Now()
	w.repeatAll()
	w.awaitClosed()
	w.checkClaims()
	w.checkHistory()
	for _, c := range append(w.grabbers, w.sender) {
		c.MustHaveAll()
	}
}

// repeatAll sends every request again, as clients do after a lost answer. An acknowledged request must be answered as before.
func (w *workload) repeatAll() {
	w.t.Helper()
	for _, request := range w.requests {
		reply := e2e.Call[wire.SendPacketReply](w.sender, "send_packet", request)
		before, answered := w.packets[request.Key]
		if answered && (!reply.Dup || reply.Packet.ID != before.Packet.ID || reply.Seq != before.Seq) {
			w.t.Errorf("packet %s was acknowledged with id %s, seq %d; the same request is now answered %+v", request.Key, before.Packet.ID, before.Seq, reply)
		}
		w.packets[request.Key] = reply
	}
	for key, before := range w.texts {
		reply := e2e.Call[wire.SendReply](w.sender, "send", wire.SendRequest{Room: w.room, Key: key, Text: key})
		if !reply.Dup || reply.Seq != before.Seq || reply.ID != before.ID {
			w.t.Errorf("text %s was acknowledged with %+v; the same request is now answered %+v", key, before, reply)
		}
	}
	for _, g := range w.won {
		reply := e2e.Call[wire.GrabReply](g.by, "grab", wire.GrabRequest{Packet: g.reply.Packet})
		// If Redis has lost the grab, the same share may be granted again and settled as a duplicate: then the answer is "won" again.
		asBefore := reply.Outcome == "already" || w.redisLoses && reply.Outcome == "won"
		if !asBefore || reply.Amount != g.reply.Amount || reply.Rank != g.reply.Rank {
			w.t.Errorf("a grab of %s was answered %+v; the same grab is now answered %+v, want outcome already (or won, if Redis may have lost the grab), the same amount and rank", g.by.User.Name, g.reply, reply)
		}
	}
}

// awaitClosed waits until every packet is closed, at most 10 s plus w.ending() after the last deadline.
func (w *workload) awaitClosed() {
	w.t.Helper()
	var latest int64
	for _, p := range w.packets {
		latest = max(latest, p.Packet.ExpiresAt)
	}
	e2e.Eventually(w.t, max(0, time.Until(time.UnixMilli(latest)))+10*time.Second+w.ending(), "all packets are closed", func() bool {
		for _, l := range w.server.Audit().Lines {
			if l.Status == "open" {
				return false
			}
		}
		return true
	})
	w.server.MustBalance()
}

// ending is the time that the ends of all packets may take one after the other. They take turns, because each locks the wallet of
// the same sender.
func (w *workload) ending() time.Duration { return time.Duration(len(w.packets)) * w.endTime }

// checkClaims compares the acknowledged grabs and cancellations with the packets on the server.
func (w *workload) checkClaims() {
	w.t.Helper()
	stored := map[string]bool{}
	for key, p := range w.packets {
		reply := e2e.Call[wire.PacketReply](w.sender, "packet", wire.PacketRequest{Packet: p.Packet.ID})
		for _, c := range reply.Claims {
			stored[fmt.Sprint(p.Packet.ID, c.User.ID, c.Rank, c.Amount)] = true
		}
		if w.cancelled[p.Packet.ID] && reply.State.Status != "cancelled" {
			w.t.Errorf("the cancellation of packet %s was acknowledged, but its status is %s", key, reply.State.Status)
		}
	}
	proofs := map[string]proof.Document{}
	for _, g := range w.entered {
		reply := e2e.Call[wire.PacketReply](g.by, "packet", wire.PacketRequest{Packet: g.reply.Packet})
		if g.reply.Wave > 0 {
			w.checkWave(g, reply, proofs)
		} else if d := reply.State.Draw; d == nil || d.Receipt == nil || *d.Receipt != *g.reply.Receipt || d.Root == "" {
			w.t.Errorf("%s has entered %s with %+v, and now the state is %+v", g.by.User.Name, g.reply.Packet, g.reply.Receipt, d)
		}
	}
	for _, g := range w.won {
		if !stored[fmt.Sprint(g.reply.Packet, g.by.User.ID, g.reply.Rank, g.reply.Amount)] {
			w.t.Errorf("a grab of %s was answered %+v, but no such claim is stored", g.by.User.Name, g.reply)
		}
	}
}

// checkWave compares an acknowledged entry into a wave of a rain with the rain's proof.
func (w *workload) checkWave(g wonGrab, reply wire.PacketReply, proofs map[string]proof.Document) {
	w.t.Helper()
	d, read := proofs[g.reply.Packet]
	if !read {
		status, answer, err := w.server.Get(g.by.Token, "packets/"+g.reply.Packet+"/proof")
		if err == nil {
			d, err = proof.ReadDocument(bytes.NewReader(answer))
		}
		if err == nil {
			_, err = proof.Check(d)
		}
		if err != nil || status != http.StatusOK {
			w.t.Errorf("proof of rain %s: status %d, %v", g.reply.Packet, status, err)
		}
		proofs[g.reply.Packet] = d
	}
	if g.reply.Wave > len(d.Waves) || !slices.Contains(d.Waves[g.reply.Wave-1].Leaves, g.reply.Receipt.Leaf) {
		w.t.Errorf("%s has entered wave %d of %s with %+v, which the proof does not have", g.by.User.Name, g.reply.Wave, g.reply.Packet, g.reply.Receipt)
	}
	for _, wave := range d.Waves {
		for _, winner := range wave.Winners {
			paid := slices.ContainsFunc(reply.State.Rain.Wins, func(win wire.Win) bool { return win.Wave == int(wave.Wave) && win.Amount == winner.Amount })
			if winner.User == g.by.User.ID && !paid {
				w.t.Errorf("%s has won %+v in wave %d of %s, and was paid %+v", g.by.User.Name, winner, wave.Wave, g.reply.Packet, reply.State.Rain.Wins)
			}
		}
	}
}

// checkHistory reads the room from its start: every acknowledged entry is there, and every packet ended at most 5 s
// plus w.ending() after its deadline, or after the restart if that was later.
func (w *workload) checkHistory() {
	w.t.Helper()
	bySeq := map[int64]wire.Entry{}
	ends, late := map[string]int64{}, ""
	for _, e := range e2e.History(w.sender, w.room, 0, e2e.All) {
		bySeq[e.Seq] = e
		var done wire.PacketDoneBody
		if e.Kind == "packet_done" && json.Unmarshal(e.Body, &done) == nil {
			ends[done.Packet] = e.At
		}
	}
	for key, p := range w.packets {
		if e := bySeq[p.Seq]; e.Kind != "packet" || e.Key != key {
			w.t.Errorf("packet %s was acknowledged as entry %d, but that entry is %s %s", key, p.Seq, e.Kind, e.Key)
		}
		limit := max(p.Packet.ExpiresAt, w.restarted.UnixMilli()) + 5000 + w.ending().Milliseconds()
		switch end := ends[p.Packet.ID]; {
		case end == 0:
			w.t.Errorf("packet %s has not ended, want an end by %d ms", key, limit)
		case end > limit:
			late = fmt.Sprintf("packet %s ended at %d ms, want an end by %d ms", key, end, limit)
		}
	}
	for key, m := range w.texts {
		if e := bySeq[m.Seq]; e.Key != key || e.ID != m.ID {
			w.t.Errorf("text %s was acknowledged as entry %d, but that entry has key %s", key, m.Seq, e.Key)
		}
	}
	if late != "" && e2e.Timed() { // last, because it ends the test
		e2e.TooSlow(w.t, "%s", late)
	}
}
