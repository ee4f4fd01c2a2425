package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hongbao/chat"
	"hongbao/chat/archive"
	"hongbao/redpacket"
)

// archived is an archive with a room, its texts and its members.
const archived = `{"type":"user","id":"ann","name":"Ann"}
{"type":"user","id":"bob","name":"Bob","ref":"42"}
{"type":"room","id":"general","name":"General","owner":"ann","at":1500000000000}
{"type":"text","room":"general","id":"1","from":"ann","at":1500000001000,"text":"hello"}
{"type":"text","room":"general","id":"2","from":"bob","at":1500000002000,"text":"hi","reply_to":"1","reactions":{"👍":["ann","cyn"]}}
{"type":"text","room":"general","id":"3","from":"gone","name":"Once","at":1500000001500,"text":"bye","reply_to":"never"}
{"type":"member","room":"general","user":"ann","role":"owner"}
{"type":"member","room":"general","user":"bob","role":"admin"}
{"type":"member","room":"general","user":"cyn"}
`

// ArchiveUnderTest is an engine whose books can be audited.
type ArchiveUnderTest interface {
	archive.Store
	Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error)
}

// TestArchive checks that an engine keeps the contract of archive.Store, and that the audit finds nothing afterwards.
func TestArchive(t *testing.T, open func(t *testing.T) ArchiveUnderTest) {
	for name, test := range map[string]func(*testing.T, archive.Store){
		"texts have the authors and times of the archive, and members have read them": importOnce,
		"an import that is repeated changes nothing":                                  importTwice,
		"an import goes on behind the line that was wrong":                            importBroken,
		"two imports at once append each text once":                                   importAtOnce,
		"an erased user does not come back":                                           importErased,
		"a deleted room is not filled":                                                importDeleted,
		"an export can be imported again":                                             exportImport,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			test(t, s)
			if found, err := s.Audit(t.Context(), nil); err != nil || len(found.Differences) > 0 {
				t.Errorf("the audit finds %+v, %v", found.Differences, err)
			}
		})
	}
}

func importLines(ctx context.Context, s archive.Store, lines string) (archive.Done, error) {
	return archive.Import(ctx, s, strings.NewReader(lines), archive.Options{Folder: fstest.MapFS{}})
}

// importedRoom returns the room with this id in the archive, and its texts.
func importedRoom(t *testing.T, s archive.Store, ref string) (chat.RoomRecord, []chat.Entry) {
	t.Helper()
	rooms, _, err := s.RoomRecords(t.Context(), chat.RoomQuery{Ref: ref, Limit: 2})
	noError(t, err)
	if len(rooms) != 1 {
		t.Fatalf("%d rooms have the ref %s, want 1", len(rooms), ref)
	}
	entries, _, err := s.History(t.Context(), rooms[0].ID, chat.Page{Limit: 10_000})
	noError(t, err)
	return rooms[0], slices.DeleteFunc(entries, func(e chat.Entry) bool { return e.Kind != chat.KindText })
}

// shown returns texts as lines: author, name, time, body.
func shown(texts []chat.Entry) (lines []string) {
	for _, e := range texts {
		lines = append(lines, fmt.Sprintf("%s %s %d %s", e.From.ID, e.From.Name, e.At.UnixMilli(), e.Body))
	}
	return lines
}

func importOnce(t *testing.T, s archive.Store) {
	done, err := importLines(t.Context(), s, archived)
	noError(t, err)
	if want := (archive.Done{Users: 2, Rooms: 1, Members: 2, Texts: 3, Unsolved: 1}); done != want {
		t.Errorf("done %+v, want %+v", done, want)
	}
	room, texts := importedRoom(t, s, "general")
	want := []string{
		`ann Ann 1500000001000 {"text":"hello"}`,
		`bob Bob 1500000002000 {"text":"hi","reply_to":1,"reactions":{"👍":2}}`,
		`gone Once 1500000001500 {"text":"bye"}`,
	}
	if got := shown(texts); !slices.Equal(got, want) {
		t.Errorf("texts are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if room.Owner != "ann" || room.CreatedAt.UnixMilli() != 1_500_000_000_000 || room.Members != 3 {
		t.Errorf("the room is %+v", room)
	}
	for user, role := range map[string]chat.Role{"bob": chat.Admin, "cyn": chat.Plain} {
		m, err := s.Membership(t.Context(), room.ID, user)
		if err != nil || m.Role != role || m.Unread != 0 {
			t.Errorf("%s is %q with %d unread texts, %v, want %q and none", user, m.Role, m.Unread, err, role)
		}
	}
	if u, err := s.UserRecord(t.Context(), "bob"); err != nil || u.Ref != "42" {
		t.Errorf("bob is %+v, %v", u, err)
	}
}

func importTwice(t *testing.T, s archive.Store) {
	_, err := importLines(t.Context(), s, archived)
	noError(t, err)
	before, _ := importedRoom(t, s, "general")
	done, err := importLines(t.Context(), s, archived)
	noError(t, err)
	if done.Texts != 0 || done.Known != 3 {
		t.Errorf("done %+v, want 3 known texts", done)
	}
	if after, _ := importedRoom(t, s, "general"); after.LastSeq != before.LastSeq || after.Members != before.Members {
		t.Errorf("the room is %+v, and was %+v", after, before)
	}
}

func importBroken(t *testing.T, s archive.Store) {
	lines := strings.SplitAfter(archived, "\n")
	broken := slices.Insert(slices.Clone(lines), 5, `{"type":"text","room":"general","id":"x","from":"","at":1,"text":"x"}`+"\n")
	if _, err := importLines(t.Context(), s, strings.Join(broken, "")); err == nil || !strings.Contains(err.Error(), "line 6: ") || !strings.Contains(err.Error(), "from") {
		t.Errorf("a text without an author: %v", err)
	}
	done, err := importLines(t.Context(), s, archived)
	noError(t, err)
	if done.Texts+done.Known != 3 {
		t.Errorf("done %+v, want 3 texts", done)
	}
	if _, texts := importedRoom(t, s, "general"); len(texts) != 3 {
		t.Errorf("the room has %d texts, want 3", len(texts))
	}
}

func importAtOnce(t *testing.T, s archive.Store) {
	var lines strings.Builder
	for n := range 2_500 {
		fmt.Fprintf(&lines, `{"type":"text","room":"general","id":"many-%d","from":"ann","at":1500000003000,"text":"%d"}`+"\n", n, n)
	}
	_, err := importLines(t.Context(), s, archived)
	noError(t, err)
	ended := make(chan error)
	for range 2 {
		go func() {
			_, err := importLines(context.Background(), s, strings.Join(strings.SplitAfter(archived, "\n")[:3], "")+lines.String())
			ended <- err
		}()
	}
	noError(t, errors.Join(<-ended, <-ended))
	_, texts := importedRoom(t, s, "general")
	if len(texts) != 2_503 {
		t.Fatalf("the room has %d texts, want 2,503", len(texts))
	}
	for n, e := range texts[3:] {
		if want := fmt.Sprintf(`{"text":"%d"}`, n); string(e.Body) != want {
			t.Fatalf("text %d is %s, want %s", n, e.Body, want)
		}
	}
}

func importErased(t *testing.T, s archive.Store) {
	rooms := chat.New(s, chat.Discard{}, chat.Options{})
	noError(t, s.EnsureUsers(t.Context(), []string{"bob"}))
	_, err := s.BeginErasure(t.Context(), chat.NewErasure{User: "bob", Texts: true, At: time.Now()})
	noError(t, err)
	done, err := importLines(t.Context(), s, archived)
	noError(t, err)
	if want := (archive.Done{Users: 1, Rooms: 1, Members: 1, Texts: 2, LeftOut: 3, Unsolved: 1}); done != want {
		t.Errorf("done %+v, want %+v", done, want)
	}
	if u, err := rooms.UserRecord(t.Context(), "bob"); err != nil || u.Name != "" || u.Ref != "" {
		t.Errorf("the erased user is %+v, %v", u, err)
	}
}

func importDeleted(t *testing.T, s archive.Store) {
	_, err := importLines(t.Context(), s, archived)
	noError(t, err)
	room, _ := importedRoom(t, s, "general")
	noError(t, chat.New(s, chat.Discard{}, chat.Options{}).DeleteRoom(t.Context(), chat.System, room.ID))
	if _, err := s.Import(t.Context(), room.ID, []archive.Draft{{ID: "9", From: chat.User{ID: "ann"}, At: time.UnixMilli(1)}}); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("import into a deleted room: %v, want %v", err, chat.ErrNotFound)
	}
	if _, err := importLines(t.Context(), s, archived); err == nil {
		t.Error("an archive of a deleted room was imported again without an error")
	}
}

func exportImport(t *testing.T, s archive.Store) {
	_, err := importLines(t.Context(), s, archived+`{"type":"room","id":"d","kind":"direct","users":["ann","bob"]}`+"\n"+
		`{"type":"text","room":"d","id":"1","from":"ann","at":1500000009000,"text":"only you","data":{"a":[1, 2]},"mentions":["bob"]}`+"\n")
	noError(t, err)
	room, before := importedRoom(t, s, "general")
	rooms := chat.New(s, chat.Discard{}, chat.Options{})
	_, err = rooms.Recall(t.Context(), chat.System, room.ID, before[2].Seq)
	noError(t, err)
	before = before[:2]
	var lines strings.Builder
	done, err := archive.Export(t.Context(), s, nil, archive.Target{Lines: &lines}, nil)
	noError(t, err)
	if done.Rooms != 2 || done.Texts != 3 || done.Members != 3 || done.LeftOut != 1 {
		t.Errorf("done %+v, want 2 rooms, 3 texts, 3 members, and the recalled text left out", done)
	}
	if _, err := importLines(t.Context(), s, lines.String()); err == nil || !strings.Contains(err.Error(), "is one of this installation") {
		t.Errorf("its own export is imported: %v", err)
	}
	own, err := s.Direct(t.Context(), chat.Pairing{ID: "unused", User: chat.User{ID: "ann"}, Other: "bob", At: time.UnixMilli(1), EntryID: "unused", MaxRooms: 10})
	noError(t, err)
	again := strings.NewReplacer(room.ID, "copy", own.Membership.Room.ID, "copy-direct", `"ref":"general"`, `"ref":"copy"`, `"ref":"42"`, `"ref":"43"`, `"bob"`, `"ben"`).Replace(lines.String())
	_, err = importLines(t.Context(), s, again)
	noError(t, err)
	_, after := importedRoom(t, s, "copy")
	if got, want := strings.ReplaceAll(strings.Join(shown(after), "\n"), "ben ", "bob "), strings.Join(shown(before), "\n"); got != want {
		t.Errorf("imported again, the texts are\n%s\nwant\n%s", got, want)
	}
	direct, err := s.Direct(t.Context(), chat.Pairing{ID: "unused", User: chat.User{ID: "ann"}, Other: "ben", At: time.UnixMilli(1), EntryID: "unused", MaxRooms: 10})
	noError(t, err)
	texts, _, err := s.History(t.Context(), direct.Membership.Room.ID, chat.Page{Limit: 10})
	noError(t, err)
	if got := shown(texts); len(got) != 1 || got[0] != `ann Ann 1500000009000 {"text":"only you","data":{"a":[1,2]},"mentions":["ben"]}` {
		t.Errorf("the direct room has %v", got)
	}
}
