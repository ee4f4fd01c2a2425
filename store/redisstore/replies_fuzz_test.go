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

// scripted makes a reply out of bytes: integers, texts, lists and nothing, one within another.
func scripted(script []byte, text string) (reply []any, rest []byte) {
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
			list, script = scripted(script, text)
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

// FuzzGrabAnswer: a reply of another form is an error. A share is nobody's whom the reply does not give it to.
func FuzzGrabAnswer(f *testing.F) {
	f.Add([]byte{4, 0, 4, 64, 200, 0, 4, 72, 0}, "1700000000000000") // two shares and the last one
	f.Add([]byte{4, 18, 26}, "1700000000000000")                     // shares 0 and 1 of the one, 1 and 2 of the other
	f.Add([]byte{4, 8, 4, 72, 16, 24, 0, 4, 32}, "closed")
	f.Add([]byte{5, 6, 4, 3}, "")
	f.Add([]byte{}, "1700000000000000 12") // to who asks alone
	f.Add([]byte{}, "1700000000000000 -1")
	f.Fuzz(func(t *testing.T, script []byte, entry string) {
		lone := &ask{attempts: make([]redpacket.Attempt, 1), answers: make([]redpacket.Answer, 1)}
		one := &call{cmd: replied(entry), groups: []*group{{seats: []seat{{lone, 0}}}}}
		if got := one.answer(); got == nil {
			share := strings.TrimPrefix(entry, lone.answers[0].Entry+" ")
			if n, err := strconv.Atoi(share); err != nil || n < 0 || n != lone.answers[0].Share || lone.answers[0].Decision != redpacket.Granted {
				t.Errorf("%q is read as %+v", entry, lone.answers[0])
			}
		} else if lone.answers[0] != (redpacket.Answer{}) {
			t.Errorf("%q: %v, and yet %+v", entry, got, lone.answers[0])
		}
		attempts := make([]redpacket.Attempt, 4)
		a := &ask{attempts: attempts, answers: make([]redpacket.Answer, len(attempts))}
		reply, _ := scripted(script, entry)
		c := &call{cmd: replied(reply), groups: []*group{{seats: []seat{{a, 0}, {a, 1}}}, {seats: []seat{{a, 2}, {a, 3}}}}}
		for _, many := range [][]*group{c.groups[:1], {{seats: []seat{{a, 0}}}, {seats: []seat{{a, 1}}}}} {
			if (&call{cmd: replied(entry), groups: many}).answer() == nil {
				t.Errorf("%q answers two", entry)
			}
		}
		if err := c.answer(); err != nil {
			return
		}
		if len(reply) < 2 || reply[0] == nil {
			t.Fatalf("%v answers two packets", reply)
		}
		given := map[int64]int{}
		for _, item := range reply {
			switch code, ok := item.(int64); {
			case ok && code >= 0:
				given[code/shareFrom]++
			case ok && code <= together:
				given[together-code]++
				given[together-code+1]++ // to the other one of the group
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

// FuzzNoted: so is what Redis says of sockets.
func FuzzNoted(f *testing.F) {
	f.Add([]byte{6, 4, 7, 6, 7, 8}, "1")
	f.Add([]byte{6, 5, 7, 4, 0}, "c")
	f.Add([]byte{6, 7, 6, 7, 8, 8}, "")
	f.Fuzz(func(t *testing.T, script []byte, text string) {
		reply, _ := scripted(script, text)
		n, err := readUser(reply)
		if err != nil && (n.first || len(n.out) > 0 || len(n.sinces) > 0) || err == nil && len(reply) != 3 {
			t.Errorf("%v reads %+v, %v", reply, n, err)
		}
		all, err := readNoted(replied(reply), make([]localUser, 2))
		if len(all) != 2 || err == nil && len(reply) != 2 {
			t.Errorf("%v reads %+v, %v", reply, all, err)
		}
		_, _ = readNoted(replied(text), make([]localUser, 1))
	})
}

// FuzzParcel: what others publish is passed over, or is what was sent.
func FuzzParcel(f *testing.F) {
	f.Add("mroom", uint64(1), uint64(1<<63))
	f.Add("0123456789abcdef", uint64(0), uint64(0))
	f.Add("0123456789", uint64(7), uint64(8))
	f.Fuzz(func(t *testing.T, payload string, id, number uint64) {
		p := newParcel("room", []byte(payload), hub.Kept)
		p.address(id, number)
		from, n, ok := openParcel(string(p.bytes))
		if !ok || from != id || n != number || p.number() != number || !bytes.Equal(p.bytes[parcelHeader:], []byte(payload)) {
			t.Errorf("%d, %d came back as %d, %d, %t", id, number, from, n, ok)
		}
		if _, _, ok := openParcel(payload); ok != (len(payload) >= parcelHeader) {
			t.Errorf("%q: %t", payload, ok)
		}
	})
}

// FuzzOutbox: an entry that is not as we write them is no claim; one that is comes back as it was.
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
			return // whoever asked takes none of it
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
				t.Errorf("%+v is in no order", again)
			}
		}
	})
}
