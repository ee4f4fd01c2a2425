package console_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/trail"
	"hongbao/web/host/hostapi"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// hostile is markup that would run a script if a page inserted it as such.
const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`

// sample is what the pages of a test show.
type sample struct {
	room, packet, report string
}

// populate makes a room with texts, a packet and a report. Every name and text is hostile.
func populate(c *testConsole) (s sample) {
	c.Helper()
	ctx := c.Context()
	ann, bob, cyn := chat.User{ID: "ann", Name: "Ann " + hostile[:40]}, chat.User{ID: "bob", Name: hostile[:60]}, chat.User{ID: "cyn", Name: "Cyn"}
	for _, u := range []chat.User{ann, bob, cyn} {
		noError(c, c.rooms.SignIn(ctx, u))
	}
	made, _, err := c.rooms.CreateHostRoom(ctx, chat.HostRoom{
		CreateRoom: chat.CreateRoom{Key: "room", Name: "Tea " + hostile[:40], Kind: "private", Members: []string{"bob", "cyn"}}, Owner: "ann", Ref: "order-17", Announcement: hostile,
	})
	noError(c, err)
	s.room = made.ID
	_, _, err = c.packets.Adjust(ctx, redpacket.AdjustRequest{User: "ann", Amount: 10_000, Key: "money", Note: hostile[:60], Actor: "key/shop"})
	noError(c, err)
	sent, err := c.packets.Send(ctx, ann, redpacket.SendRequest{Room: s.room, Key: "packet", Mode: redpacket.Equal, Total: 200, Count: 1, Greeting: hostile[:60]})
	noError(c, err)
	s.packet = sent.Packet.ID
	_, err = c.packets.Grab(ctx, redpacket.GrabRequest{User: "bob", Packet: s.packet})
	noError(c, err)
	noError(c, c.store.AddRefusals(ctx, []trail.Refusal{{User: "ann", Packet: s.packet, At: time.Now().Add(time.Second), Why: "empty"}, {User: "cyn", Packet: s.packet, At: time.Now().Add(2 * time.Second), Why: "empty"}}))
	noError(c, c.store.AddSockets(ctx, []trail.SocketEvent{{User: "ann", Socket: "s1", At: time.Now(), What: trail.SocketOpened}, {User: "ann", Socket: "s1", At: time.Now(), What: trail.SocketClosed, Code: wire.CloseTooSlow}}))
	said, err := c.rooms.Send(ctx, bob, chat.Message{Room: s.room, Key: "text", Text: hostile})
	noError(c, err)
	report, _, err := c.rooms.Report(ctx, ann, chat.ReportRequest{Room: s.room, Seq: said.Seq, Reason: "abuse", Text: hostile, Key: "report"})
	noError(c, err)
	s.report = report.ID
	return s
}

// enter signs in on the page.
func enter(v *webtest.Visitor, key, name string) {
	v.Fill("API", key)
	v.Fill(name, "Mei")
	v.Key("\r")
}

func TestBrowserConsole(t *testing.T) {
	enginetest.Nightly(t, "page")
	c := newTestConsole(t)
	s := populate(c)
	chromium := webtest.Browser(t)
	v := chromium.Visit(t, c.URL+"/console", webtest.Screen{Calm: true})
	v.Sees("There are no API keys yet", "hongbao apikey new")
	key := c.addKey("support", hostapi.Admin)
	v.Reload()
	v.Expect("401")
	v.Expect("console/api/rooms/" + s.packet) // the id may name a room, too
	v.Expect("/erase")                        // nobody has asked for it
	enter(v, "hbk_wrong", "Your name")
	v.Sees("This is no valid key.")
	v.Fill("API", key)
	v.Key("\r")
	v.Sees("Nothing needs you now.", "key support", "sockets · at most 1,287", "money in open packets · at most 12.34")

	v.Fill("Look up", "bob")
	v.Key("\r")
	v.Sees("Got a share", "2.00", hostile[:60])
	v.Press("button", "Suspend")
	v.Sees("All tokens of the user are refused")
	v.Fill("Reason", "spam in the tea room")
	v.Key("\r")
	v.Has("button", "Reinstate")
	if act := c.act("suspend_user"); act.Person != "Mei" || act.Reason != "complaint: spam in the tea room" {
		t.Errorf("stored %+v", act)
	}
	v.Fill("Look up", "ann")
	v.Key("\r")
	v.Sees("Socket closed by the server: it read too slowly", "Connected")
	v.Fill("Look up", "order-17")
	v.Key("\r")
	v.Sees("Packets of the room", hostile)
	v.Fill("Look up", s.packet)
	v.Key("\r")
	v.Sees("share, rank 1", "all shares taken", "Save proof")

	v.Fill("Look up", "cyn")
	v.Key("\r")
	v.Sees("Got nothing: all shares were taken")
	v.Press("link", "Why?")
	v.Sees("Why there was no share", "rank 1, 2.", "3, and there are 1 shares")

	v.Press("link", "Reports")
	v.Sees("abuse")
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = '#/report/%s'`, s.report)))
	v.Sees("Context", hostile)
	v.Press("button", "Decide: dismissed")
	v.Fill("Note", "all is well")
	v.Fill("Reason", "no abuse")
	v.Key("\r")
	v.Sees("Decided by", "all is well")
	v.Press("link", "Acts")
	v.Sees("resolve_report", "Mei (key/support)", "complaint: no abuse")
	if title := webtest.Ask[string](v.Tab, `document.title`); title != "hongbao console" {
		t.Errorf("the title is %q: a script of a user ran", title)
	}
	c.removeKeys()
	v.Press("link", "Users")
	v.Sees("The session has ended")
}

// TestBrowserSupportSaysWhyItReadsTexts looks at a room and a packet with a key of the scope support.
func TestBrowserSupportSaysWhyItReadsTexts(t *testing.T) {
	enginetest.Nightly(t, "page")
	c := newTestConsole(t)
	s := populate(c)
	key := c.addKey("desk", hostapi.Support)
	v := webtest.Browser(t).Visit(t, c.URL+"/console/#/room/"+s.room, webtest.Screen{Calm: true})
	enter(v, key, "Your name")
	v.Sees("Tea", "Members")
	before := len(c.acts())
	v.Press("button", "Read the entries")
	v.Sees("That you read them is stored")
	v.Fill("Reason", "asked for a lost text")
	v.Key("\r")
	v.Sees("bob", hostile)
	if act := c.act("get_history"); act.Person != "Mei" || act.Reason != "complaint: asked for a lost text" || len(c.acts()) != before+1 {
		t.Errorf("stored %+v and %d acts, want 1", act, len(c.acts())-before)
	}
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = '#/packet/%s'`, s.packet)))
	v.Sees("share, rank 1")
	if text := webtest.Ask[string](v.Tab, `document.querySelector('main dl').innerText`); strings.Contains(text, "Greeting") {
		t.Errorf("the greeting is shown: %s", text)
	}
}

// TestBrowserErasure stops an erasure by a legal hold, ends the hold, and erases a person.
func TestBrowserErasure(t *testing.T) {
	enginetest.Nightly(t, "page")
	c := newTestConsole(t)
	populate(c)
	key := c.addKey("dpo", hostapi.Privacy, hostapi.Read)
	v := webtest.Browser(t).Visit(t, c.URL+"/console/#/holds", webtest.Screen{Calm: true})
	enter(v, key, "Your name")
	v.Sees("There is no legal hold.")
	v.Press("button", "Set a hold")
	v.Fill("Id", "cyn")
	v.Fill("Reason", "case 7")
	v.Key("\r")
	v.Has("link", "cyn")
	v.Expect("409")
	v.Expect("console/api/users/cyn/erase") // nobody has asked for it yet
	v.Press("link", "cyn")
	v.Sees("Nobody has asked to erase this person.")
	v.Press("button", "Erase, with texts")
	v.Fill("Reason", "asked by letter")
	v.Key("\r")
	v.Sees("Refused:")
	v.Press("button", "Cancel")
	v.Press("link", "Legal holds")
	v.Press("button", "End")
	v.Fill("Reason", "case closed")
	v.Key("\r")
	v.Sees("There is no legal hold.")
	v.Do(chromedp.Evaluate[chromedp.Void](`location.hash = '#/user/cyn'`))
	v.Press("button", "Erase, with texts")
	v.Fill("Reason", "asked by letter")
	v.Key("\r")
	v.Sees("Entries erased")
	if act := c.act("erase_user"); act.Person != "Mei" || act.Reason != "complaint: asked by letter" {
		t.Errorf("stored %+v", act)
	}
}

// TestBrowserConsoleIsAccessible runs axe-core on every page.
func TestBrowserConsoleIsAccessible(t *testing.T) {
	enginetest.Nightly(t, "page")
	axe, err := os.ReadFile(filepath.Join("..", "..", "..", "cmd", "hongbao", "e2e", "browser", "testdata", "axe", "axe.min.js"))
	noError(t, err)
	c := newTestConsole(t)
	s := populate(c)
	chromium := webtest.Browser(t)
	key := ""
	for _, how := range []struct {
		webtest.Screen
		door, name string
	}{
		{webtest.Screen{Calm: true}, "There are no API keys", "Your name"},
		{webtest.Screen{Calm: true, Dark: true, Phone: true, Language: "zh-CN"}, "密钥", "你的姓名"},
	} {
		v := chromium.Visit(t, c.URL+"/console/", how.Screen)
		v.Do(chromedp.Evaluate[chromedp.Void](string(axe))) // through the debugger: the page's policy would refuse the script
		v.Expect("console/api/audit")                       // there is no report yet
		v.Expect("/erase")                                  // nobody has asked for it
		v.Sees(how.door)
		mustBeAccessible(t, v, "door")
		if key == "" {
			key = c.addKey("support", hostapi.Admin)
			v.Reload()
			v.Do(chromedp.Evaluate[chromedp.Void](string(axe)))
		}
		enter(v, key, how.name)
		v.Has("navigation", "")
		for _, hash := range []string{
			"overview", "users", "user/bob", "find/n", "packets?room=" + s.room, "packets", "packet/" + s.packet, "rooms", "room/" + s.room, "reports", "report/" + s.report, "acts", "holds", "events", "quarantine", "audit",
		} {
			v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = '#/%s'`, hash)))
			settled(t, v)
			mustBeAccessible(t, v, hash)
			if how.Phone {
				if over := webtest.Ask[int](v.Tab, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("%s is %d pixels too wide for a phone", hash, over)
				}
			}
		}
		v.Do(chromedp.Evaluate[chromedp.Void](`location.hash = '#/user/cyn'`))
		settled(t, v)
		v.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector('main .acts button').click()`))
		v.Has("dialog", "")
		mustBeAccessible(t, v, "dialog")
	}
}

// settled waits until nothing on the page is loading.
func settled(t *testing.T, v *webtest.Visitor) {
	t.Helper()
	webtest.Ask[int](v.Tab, `(async () => {
		for (let n = 0; n < 400; n++) {
			await new Promise((r) => setTimeout(r, 25));
			if (!document.querySelector('[aria-busy]')) return 0;
		}
		throw new Error('still loading');
	})()`)
}

func mustBeAccessible(t *testing.T, v *webtest.Visitor, where string) {
	t.Helper()
	for _, found := range webtest.Ask[[]string](v.Tab, `axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(({violations}) =>
		violations.map((v) => v.id + ': ' + v.help + ' ' + v.nodes.map((n) => n.html + ' ' + n.failureSummary).join('\n')))`) {
		t.Errorf("%s: %s", where, found)
	}
}

// TestBrowserConsoleWords compares the languages with each other and with the code: no text is missing, and none is unused.
func TestBrowserConsoleWords(t *testing.T) {
	enginetest.Nightly(t, "page")
	c := newTestConsole(t)
	v := webtest.Browser(t).Visit(t, c.URL+"/console/", webtest.Screen{})
	words := map[string]map[string]string{}
	text := webtest.Ask[string](v.Tab, `import('/console/console.js').then(({ languages }) => {
		const all = new Proxy({}, { get: (_, name) => name === Symbol.toPrimitive ? () => 'x' : 7 });
		const flat = (of, at = '') => Object.entries(of).flatMap(([name, value]) => typeof value === 'object' ? flat(value, at + name + '.') : [[at + name, typeof value === 'function' ? value(all) : value]]);
		return JSON.stringify(Object.fromEntries(Object.entries(languages).map(([name, of]) => [name, Object.fromEntries(flat(of))])));
	})`)
	noError(t, json.Unmarshal([]byte(text), &words))
	code := ""
	noError(t, fs.WalkDir(os.DirFS("static/app"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(name, "words/") {
			return err
		}
		data, err := os.ReadFile(filepath.Join("static/app", name))
		code += string(data)
		return err
	}))
	foreign := regexp.MustCompile(`\p{Han}[,:;!?()]|[,:;!?()]\p{Han}`)
	for place, english := range words["en"] {
		chinese, there := words["zh"][place]
		if !there || strings.TrimSpace(english) == "" || strings.Contains(english+chinese, "undefined") {
			t.Errorf("%s says %q in English and %q in Chinese", place, english, chinese)
		}
		group, _, _ := strings.Cut(place, ".")
		if !strings.Contains(code, "'"+place+"'") && !strings.Contains(code, "said('"+group+"'") && !strings.Contains(code, "t(`"+place[:strings.LastIndex("."+place, ".")]) {
			t.Errorf("%s is never said", place)
		}
	}
	for place, chinese := range words["zh"] {
		if _, there := words["en"][place]; !there || foreign.MatchString(chinese) {
			t.Errorf("%s says %q in Chinese, and English has it: %v", place, chinese, there)
		}
	}
	for _, found := range regexp.MustCompile(`\bt\('([A-Za-z.]+)'`).FindAllStringSubmatch(code, -1) {
		if _, there := words["en"][found[1]]; !there {
			t.Errorf("the page says %s, which is not there", found[1])
		}
	}
	for _, problem := range hostapi.Problems {
		if words["en"]["problem."+problem] == "" {
			t.Errorf("the problem %s has no words", problem)
		}
	}
}
