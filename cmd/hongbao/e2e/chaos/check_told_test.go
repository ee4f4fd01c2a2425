package chaos

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"hongbao/web/wire"
)

// disorder returns the entries that are not in their place, and the requests that were carried out twice.
func (sql *truth) disorder() (wrong []string) {
	for room, entries := range sql.rooms {
		seen := map[string]bool{}
		for n, e := range entries {
			if e.seq != int64(n)+1 {
				wrong = append(wrong, fmt.Sprintf("room %s has entry %d in place %d", room, e.seq, n+1))
			}
			if request := e.user + " " + e.key; e.key != "" && e.kind != "packet_done" {
				if seen[request] {
					wrong = append(wrong, fmt.Sprintf("request %s is in room %s twice", request, room))
				}
				seen[request] = true
			}
		}
	}
	return wrong
}

// entry returns an entry of a room. If there is none, its kind is "".
func (sql *truth) entry(room string, seq int64) storedEntry {
	if entries := sql.rooms[room]; seq >= 1 && seq <= int64(len(entries)) {
		return entries[seq-1]
	}
	return storedEntry{}
}

// check compares what users were told with what SQL has.
func (r *record) check(sql truth) (wrong []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wrong = append(sql.disorder(), r.wrong...)
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	// differs is called if SQL does not have what was acknowledged. What it may have lost is forgotten.
	differs := func(mayBeLost bool, t told, format string, args ...any) (forget bool) {
		if !mayBeLost {
			say(format+fmt.Sprintf(" (asked and answered at %d, SQL may have lost something at %d)", t, r.loss), args...)
		}
		return mayBeLost
	}
	r.texts = slices.DeleteFunc(r.texts, func(t toldText) bool {
		e := sql.entry(t.room, t.seq)
		return (e.kind != "text" || e.id != t.id || e.key != t.key || e.user != t.user) &&
			differs(r.mayBeLost(t.told), t.told, "text %+v was acknowledged, and SQL has %+v there", t, e)
	})
	r.packets = slices.DeleteFunc(r.packets, func(p toldPacket) bool {
		e, status := sql.entry(p.room, p.seq), sql.packets[p.id].status
		if e.kind == "packet" && e.key == p.key && e.user == p.user && status != "" {
			return false
		}
		forget := differs(r.mayBeLost(p.told), p.told, "packet %+v was acknowledged, and SQL has %+v there, and status %q of the packet", p, e, status)
		if forget && status == "" {
			r.lost = append(r.lost, p)
		}
		return forget
	})
	for id := range r.missing {
		if status := sql.packets[id].status; status != "" {
			say("packet %s was answered with not_found, and SQL has it: %s", id, status)
		}
	}
	maps.DeleteFunc(r.wins, func(w win, t told) bool {
		return !sql.claims[w] && differs(r.winMayBeLost(w, t), t, "share %+v was won, and SQL has no such claim", w)
	})
	maps.DeleteFunc(r.cancelled, func(id string, t told) bool {
		status := sql.packets[id].status
		return status != "cancelled" && differs(r.mayBeLost(t), t, "the cancellation of packet %s was acknowledged, and its status is %q", id, status)
	})
	maps.DeleteFunc(r.entered, func(e entry, t told) bool {
		return !sql.entered[e] && differs(r.mayBeLost(t), t, "user %s was told to take part in draw %s, wave %d, and SQL has no such participant", e.user, e.packet, e.wave)
	})
	maps.DeleteFunc(r.memberships, func(m membership, t toldMember) bool {
		in := sql.memberships[m]
		return in != t.in && differs(r.mayBeLost(t.told), t.told, "user %s was told that being a member of %s is %t, and SQL has %t", m.user, m.room, t.in, in)
	})
	if (r.loss != told{}) {
		clear(r.lastTexts) // some may be lost
	}
	return wrong
}

// mostLost is how many packets that SQL has lost are asked for.
const mostLost = 20

// checkLost asks every instance for packets that SQL has lost.
func (w *world) checkLost() (wrong []string) {
	w.record.mu.Lock()
	lost := w.record.lost[:min(mostLost, len(w.record.lost))]
	w.record.mu.Unlock()
	for _, p := range lost {
		for n, i := range w.instances {
			for _, method := range []string{"packet", "grab"} {
				status, answer, err := i.current().Post(w.users[0].token, "commands/"+method, wire.GrabRequest{Packet: p.id})
				if err != nil || status != http.StatusNotFound {
					wrong = append(wrong, fmt.Sprintf("SQL has lost packet %+v, and instance %d answers %s with %d %s %v", p, n, method, status, answer, err))
				}
			}
		}
	}
	return wrong
}
