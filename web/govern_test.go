package web

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
)

// play runs a command and returns the data of its reply, or its error. All times in the data are replaced by 0.
func (c *rawClient) play(id uint32, method, request string) string {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"id":%d,"rpc":{"method":"%s","data":%s}}`, id, method, request))
	r := c.reply(id)
	if r.Error != nil {
		return fmt.Sprint(r.Error.Code, " ", r.Error.Message)
	}
	return timeless(string(r.Rpc.Data))
}

var times = regexp.MustCompile(`"(at|until|edited_at|created_at|muted_until)":\d+`)

func timeless(text string) string { return times.ReplaceAllString(text, `"$1":0`) }

// entries reads the pushed entries of a room from seq first to last, and checks that none is missing. It returns the
// kind and body of each.
func (c *rawClient) entries(room string, first, last int64) (all []string) {
	c.t.Helper()
	for seq := first; seq <= last; seq++ {
		p := c.push(func(p *protocol.Push) bool { return p.Pub != nil && p.Channel == "room:"+room })
		var e wire.Entry
		if err := json.Unmarshal(p.Pub.Data, &e); err != nil {
			c.t.Fatal(err)
		}
		if int64(p.Pub.Offset) != seq || e.Seq != seq {
			c.t.Fatalf("publication %d with entry %d, where %d was due", p.Pub.Offset, e.Seq, seq)
		}
		all = append(all, e.Kind+" "+timeless(string(e.Body)))
	}
	return all
}

// mustLeave checks that the next two pushes are those that take the client out of a room: left, then unsubscribe.
func (c *rawClient) mustLeave(room, reason string) {
	c.t.Helper()
	p := c.next().Push
	if p == nil || p.Message == nil || messageOf(c.t, p).Left == nil || *messageOf(c.t, p).Left != (wire.LeftPush{Room: room, Reason: reason}) {
		c.t.Fatalf("got %v, want left", p)
	}
	p = c.next().Push
	if p == nil || p.Unsubscribe == nil || p.Channel != "room:"+room || p.Unsubscribe.Code != wire.UnsubscribeCode || p.Unsubscribe.Reason != reason {
		c.t.Fatalf("got %v, want unsubscribe", p)
	}
}
