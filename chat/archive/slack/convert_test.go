package slack

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"hongbao/chat"
)

// export is a workspace in the form in which Slack publishes it, by the names of its files.
var export = map[string]string{
	"users.json": `[
		{"id":"U1","name":"ann","profile":{"real_name":"Ann Lee","display_name":"Ann","image_192":"https://example.com/ann.png"}},
		{"id":"U2","name":"bob","deleted":true,"profile":{"real_name":"Bob"}}]`,
	"channels.json": `[{"id":"C1","name":"general","created":1500000000,"creator":"U9","members":["U1","U2"],"topic":{"value":"all &amp; more"},"purpose":{"value":""}},
		{"id":"C2","name":"empty","created":1500000000,"creator":"U1","members":[]}]`,
	"groups.json": `[{"id":"G1","name":"secret","created":1500000000,"creator":"U1","members":["U1"]}]`,
	"dms.json":    `[{"id":"D1","created":1500000000,"members":["U1","U2"]},{"id":"D2","members":["U1","U1"]}]`,
	"general/2017-07-15.json": `[
		{"type":"message","user":"U2","text":"second &lt;3","ts":"1500100002.000100","thread_ts":"1500100001.000100","reactions":[{"name":"+1","users":["U1","U1"]},{"name":"parrot","users":["U1"]}]},
		{"type":"message","user":"U1","text":"first, <@U2>: see <https://example.com/a|this> in <#C1|general> <!here> <https://example.com>","ts":"1500100001.000100","thread_ts":"1500100001.000100"},
		{"type":"message","subtype":"channel_join","user":"U2","text":"<@U2> has joined","ts":"1500100000.000100"},
		{"type":"message","subtype":"bot_message","bot_id":"B1","username":"Build","text":"","ts":"1500100003.000100","attachments":[{"fallback":"it is red"}]},
		{"type":"message","user":"U1","text":"","ts":"1500100004.000100","files":[{"name":"a.png","url_private":"https://files.example.com/a.png"}]},
		{"type":"message","user":"U1","text":"","ts":"1500100005.000100"},
		{"type":"message","user":"U1","text":"no time","ts":"soon"}]`,
	"general/2017-07-16.json": `[{"type":"message","user":"U1","text":"` + strings.Repeat("x", 4001) + `","ts":"1500200000.000100"}]`,
	"D1/2017-07-15.json":      `[{"type":"message","user":"U1","text":"only you","ts":"1500100001.000100","edited":{"user":"U1","ts":"1500100009.000000"}}]`,
}

func zipped(t *testing.T, files map[string]string) *zip.Reader {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConvert(t *testing.T) {
	var lines strings.Builder
	done, err := Convert(zipped(t, export), &lines, Options{IDs: map[string]string{"U2": "bob-42"}, Limits: chat.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Done{Users: 2, Rooms: 4, Texts: 7, Notes: 1, Reactions: 1, Empty: 2}); done != want {
		t.Errorf("done %+v, want %+v", done, want)
	}
	x := strings.Repeat("x", 4000)
	want := `{"type":"user","id":"U1","name":"Ann","avatar":"https://example.com/ann.png"}
{"type":"user","id":"bob-42","name":"Bob"}
{"type":"room","id":"C1","name":"general","kind":"public","owner":"U1","at":1500000000000,"announcement":"all & more"}
{"type":"text","room":"C1","id":"1500100001.000100","from":"U1","at":1500100001000,"text":"first, @Bob: see this (https://example.com/a) in #general @here https://example.com","mentions":["bob-42"]}
{"type":"text","room":"C1","id":"1500100002.000100","from":"bob-42","at":1500100002000,"text":"second <3","reply_to":"1500100001.000100","reactions":{"👍":["U1"]}}
{"type":"text","room":"C1","id":"1500100003.000100","from":"B1","name":"Build","at":1500100003000,"text":"it is red"}
{"type":"text","room":"C1","id":"1500100004.000100","from":"U1","at":1500100004000,"text":"a.png: https://files.example.com/a.png"}
{"type":"text","room":"C1","id":"1500200000.000100","from":"U1","at":1500200000000,"text":"` + x + `"}
{"type":"text","room":"C1","id":"1500200000.000100/2","from":"U1","at":1500200000000,"text":"x"}
{"type":"member","room":"C1","user":"U1"}
{"type":"member","room":"C1","user":"bob-42"}
{"type":"room","id":"C2","name":"empty","kind":"public","owner":"U1","at":1500000000000}
{"type":"room","id":"G1","name":"secret","kind":"private","owner":"U1","at":1500000000000}
{"type":"member","room":"G1","user":"U1"}
{"type":"room","id":"D1","kind":"direct","users":["U1","bob-42"],"at":1500000000000}
{"type":"text","room":"D1","id":"1500100001.000100","from":"U1","at":1500100001000,"text":"only you","edited_at":1500100009000}
`
	got, all := strings.Split(lines.String(), "\n"), strings.Split(want, "\n")
	for n := range max(len(got), len(all)) {
		if n >= len(got) || n >= len(all) || got[n] != all[n] {
			t.Fatalf("line %d is\n%.300s\nwant\n%.300s", n+1, strings.Join(got[min(n, len(got)):], "\n"), strings.Join(all[min(n, len(all)):], "\n"))
		}
	}
}

func TestWrongExportsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, want string
	}{
		"no export":       {"readme.txt", "", "users.json is missing"},
		"users no list":   {"users.json", `{}`, "users.json"},
		"broken day":      {"general/2017-07-15.json", `[{`, "channel general: general/2017-07-15.json"},
		"broken channels": {"channels.json", `x`, "channels.json"},
	} {
		files := map[string]string{c.file: c.text}
		if name != "no export" {
			files = map[string]string{"users.json": `[]`, "channels.json": `[{"id":"C1","name":"general","creator":"U1"}]`, c.file: c.text}
		}
		if _, err := Convert(zipped(t, files), &strings.Builder{}, Options{Limits: chat.DefaultLimits()}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestNamesOfChannelsAreNoPaths converts an export whose channel is named like a path.
func TestNamesOfChannelsAreNoPaths(t *testing.T) {
	var lines strings.Builder
	_, err := Convert(zipped(t, map[string]string{
		"users.json": `[]`, "channels.json": `[{"id":"C1","name":"../../etc","creator":"U1"}]`, "../../etc/2017-07-15.json": `[{"type":"message","user":"U1","text":"x","ts":"1500100001.000100"}]`,
	}), &lines, Options{Limits: chat.DefaultLimits()})
	if err != nil || strings.Contains(lines.String(), `"text"`) {
		t.Errorf("%v, %s", err, lines.String())
	}
}

func TestEmojisAreKnown(t *testing.T) {
	for name, emoji := range emojis {
		if normal, ok := chat.NormalEmoji(emoji); !ok || normal != emoji {
			t.Errorf("%s is %q, %v, want %q", name, normal, ok, emoji)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, text := range []string{"<@U1>", "<!subteam^S1|@team>", "<https://a|b>", "<", "&lt;<#C1>", "<|x>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := converter{o: Options{Limits: chat.DefaultLimits()}}
		shown, _ := c.plain(text)
		if rest := strings.Join(pieces(shown, 10), ""); len(rest) > len(shown) {
			t.Errorf("the pieces of %q have %d bytes, want at most %d", shown, len(rest), len(shown))
		}
	})
}
