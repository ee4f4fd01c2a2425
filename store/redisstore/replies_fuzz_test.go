package redisstore

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"hongbao/hub"
	"hongbao/redpacket"
)

// replyFromBytes builds a reply of integers, texts, nils and nested lists.
func replyFromBytes(script []byte, text string) (reply []any, rest []byte) {
	for len(script) > 0 {
		b := script[0]
		script = script[1:]
		switch b % 8 {
		case 0, 1:
			reply = append(reply, int64(b/8)) // decisions, shares and counts
		case 2:
			reply = append(reply, -int64(b/8))
		case 3:
			reply = append(reply, int64(b/8)<<58)
		case 4:
			reply = append(reply, text)
		case 5:
			reply = append(reply, nil)
		case 6:
			var list []any
			list, script = replyFromBytes(script, text)
			reply = append(reply, list)
		case 7:
			return reply, script
		}
	}
	return reply, nil
}

func replied(reply any) *redis.Cmd {
	cmd := redis.NewCmd(context.Background())
	cmd.SetVal(reply)
	return cmd
}

// FuzzGrabAnswer checks that a malformed reply is an error, and that no user gets a share that the reply does not
// contain.
func FuzzGrabAnswer(f *testing.F) {
	f.Add([]byte{4, 0, 4, 64, 200, 0, 4, 72, 0}, "1700000000000000") // two shares and the last one
	f.Add([]byte{4, 18, 26}, "1700000000000000")                     // the first packet's shares 0 and 1, the second packet's shares 1 and 2
	f.Add([]byte{4, 8, 4, 72, 16, 24, 0, 4, 32}, "closed")
	f.Add([]byte{5, 6, 4, 3}, "")
	f.Add([]byte{}, "1700000000000000 12") // the short reply to a single attempt
	f.Add([]byte{}, "1700000000000000 -1")
	f.Fuzz(func(t *testing.T, script []byte, entry string) {
		single := &request{attempts: make([]redpacket.Attempt, 1), answers: make([]redpacket.Answer, 1)}
		one := &call{cmd: replied(entry), groups: []*group{{positions: []position{{single, 0}}}}}
		if got := one.answer(); got == nil {
			share := strings.TrimPrefix(entry, single.answers[0].Entry+" ")
			if n, err := strconv.Atoi(share); err != nil || n < 0 || n != single.answers[0].Share || single.answers[0].Decision != redpacket.Granted {
				t.Errorf("%q is read as %+v", entry, single.answers[0])
			}
		} else if single.answers[0] != (redpacket.Answer{}) {
			t.Errorf("%q: %v, but answered %+v", entry, got, single.answers[0])
		}
		attempts := make([]redpacket.Attempt, 4)
		a := &request{attempts: attempts, answers: make([]redpacket.Answer, len(attempts))}
		reply, _ := replyFromBytes(script, entry)
		c := &call{cmd: replied(reply), groups: []*group{{positions: []position{{a, 0}, {a, 1}}}, {positions: []position{{a, 2}, {a, 3}}}}}
		for _, many := range [][]*group{c.groups[:1], {{positions: []position{{a, 0}}}, {positions: []position{{a, 1}}}}} {
			if (&call{cmd: replied(entry), groups: many}).answer() == nil {
				t.Errorf("%q is accepted for two attempts", entry)
			}
		}
		if err := c.answer(); err != nil {
			return
		}
		if len(reply) < 2 || reply[0] == nil {
			t.Fatalf("%v is accepted for two packets", reply)
		}
		given := map[int64]int{}
		for _, item := range reply {
			switch code, ok := item.(int64); {
			case ok && code >= 0:
				given[code/shareUnit]++
			case ok && code <= allGranted:
				given[allGranted-code]++
				given[allGranted-code+1]++ // share of the second attempt in the group
			}
		}
		for i, ans := range a.answers {
			if ans.Decision != redpacket.Granted {
				continue
			}
			if given[int64(ans.Share)]--; given[int64(ans.Share)] < 0 || ans.Entry != entry || ans.Share < 0 {
				t.Errorf("answer %d of %v is %+v", i, reply, ans)
			}
		}
	})
}

// FuzzPresenceReply checks that a malformed reply about sockets is an error.
func FuzzPresenceReply(f *testing.F) {
	f.Add([]byte{6, 4, 7, 6, 7, 8}, "1")
	f.Add([]byte{6, 5, 7, 4, 0}, "c")
	f.Add([]byte{6, 7, 6, 7, 8, 8}, "")
	f.Fuzz(func(t *testing.T, script []byte, text string) {
		reply, _ := replyFromBytes(script, text)
		n, err := readUser(reply)
		if err != nil && (n.first || len(n.out) > 0 || len(n.sinces) > 0) || err == nil && len(reply) != 3 {
			t.Errorf("%v reads %+v, %v", reply, n, err)
		}
		all, err := readEntered(replied(reply), make([]localUser, 2))
		if len(all) != 2 || err == nil && len(reply) != 2 {
			t.Errorf("%v reads %+v, %v", reply, all, err)
		}
		_, _ = readEntered(replied(text), make([]localUser, 1))
	})
}

// FuzzBusMessage checks that a foreign message is refused, and that our own decodes to what was sent, on its channel
// and with our key only.
func FuzzBusMessage(f *testing.F) {
	f.Add("mroom", uint64(1), uint64(1<<63))
	f.Add("0123456789abcdef", uint64(0), uint64(0))
	f.Add("0123456789", uint64(7), uint64(8))
	f.Fuzz(func(t *testing.T, payload string, id, number uint64) {
		p := newBusMessage("room", []byte(payload), hub.Kept)
		p.setNumber(id, number)
		ours := newTagger([]byte("key"))
		ours.write("channel", p)
		from, n, got, ok := ours.open("channel", p.bytes)
		if !ok || from != id || n != number || p.number() != number || string(got) != payload {
			t.Errorf("%d, %d, %q came back as %d, %d, %q, %t", id, number, payload, from, n, got, ok)
		}
		if _, _, _, ok := ours.open("channe", p.bytes); ok {
			t.Error("accepted on another channel")
		}
		if _, _, _, ok := newTagger([]byte("other")).open("channel", p.bytes); ok {
			t.Error("accepted with another key")
		}
		for i := range p.bytes {
			changed := bytes.Clone(p.bytes)
			changed[i] ^= 1
			if _, _, _, ok := ours.open("channel", changed); ok {
				t.Errorf("accepted with byte %d changed", i)
			}
		}
		if _, _, _, ok := ours.open("channel", []byte(payload)); ok {
			t.Errorf("%q: accepted", payload)
		}
	})
}

// FuzzOutbox checks that a malformed entry is no claim, and that a valid one decodes to what was encoded.
func FuzzOutbox(f *testing.F) {
	f.Add("1700000000000000 rp:{p03}:k:p ann 0 bob 1", "ann", 3)
	f.Add("1 rp:{p03}:k:p ann 0 bob", "a b", -1)
	f.Add("1 ann", "a b", -1)
	f.Add("-1 rp:{p03}:k:p ann x", "", 0)
	p := newPool(nil, poolOptions{})
	f.Fuzz(func(t *testing.T, entry, user string, share int) {
		known := []redpacket.Claim{{Entry: "known"}}
		claims, err := p.appendClaims(known, 3, entry)
		if err != nil {
			return // callers ignore the result
		}
		grants := make([]redpacket.Grant, 0, len(claims))
		for _, c := range claims[1:] {
			if !strings.HasPrefix(entry, c.Entry+" rp:{p03}:k:"+c.ID+" ") || c.Partition != 3 || c.At.UnixMilli() < 0 {
				t.Errorf("%q holds %+v", entry, c)
			}
			grants = append(grants, redpacket.Grant{User: c.User, Share: c.Share})
		}
		grants = append(grants, redpacket.Grant{User: "u-" + fmt.Sprint(len(user)), Share: share})
		again, err := p.appendClaims(nil, 3, p.entryText("1", redpacket.Ref{ID: "p", Partition: 3}, grants))
		if err != nil || len(again) == 0 || len(again) > len(grants) {
			t.Fatalf("%+v came back as %+v, %v", grants, again, err)
		}
		for i, c := range again {
			if i > 0 && c.Share < again[i-1].Share {
				t.Errorf("%+v is not sorted by share", again)
			}
		}
	})
}
