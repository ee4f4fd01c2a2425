package pool

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"hongbao/redpacket"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
)

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
		one := &call{Call: nodes.Call{Cmd: redistest.Replied(entry)}, groups: []*group{{positions: []position{{single, 0}}}}}
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
		reply, _ := redistest.ReplyFromBytes(script, entry)
		c := &call{Call: nodes.Call{Cmd: redistest.Replied(reply)}, groups: []*group{{positions: []position{{a, 0}, {a, 1}}}, {positions: []position{{a, 2}, {a, 3}}}}}
		for _, many := range [][]*group{c.groups[:1], {{positions: []position{{a, 0}}}, {positions: []position{{a, 1}}}}} {
			if (&call{Call: nodes.Call{Cmd: redistest.Replied(entry)}, groups: many}).answer() == nil {
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

// FuzzOutbox checks that a malformed entry is no claim, and that a valid one decodes to what was encoded.
func FuzzOutbox(f *testing.F) {
	f.Add("1700000000000000 rp:{p03}:k:p ann 0 bob 1", "ann", 3)
	f.Add("1 rp:{p03}:k:p ann 0 bob", "a b", -1)
	f.Add("1 ann", "a b", -1)
	f.Add("-1 rp:{p03}:k:p ann x", "", 0)
	p := New(nodes.Set{Client: nil}, Options{})
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
