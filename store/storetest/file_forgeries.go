package storetest

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
)

// FilesUnderTest is a store with an empty database. Exec runs a statement of both databases.
type FilesUnderTest struct {
	Rooms interface {
		chat.Store
		DeletedRooms(ctx context.Context, after string, limit int) (open []string, next string, err error)
	}
	Rows files.Rows
	Exec func(statement string)
}

// filesScene has two rooms with texts and files: sent ones, one of no text, one that is recalled, one that the host has deleted.
type filesScene struct {
	*testing.T
	FilesUnderTest
	objects memoryObjects
	at      time.Time
}

// memoryObjects has objects of ten bytes, by name.
type memoryObjects struct {
	files.Objects

	names map[string]bool
}

func (m memoryObjects) List(_ context.Context, _, after string, limit int) (found []files.Object, err error) {
	for name := range m.names {
		if name > after {
			found = append(found, files.Object{Name: name, Size: 10, At: time.Now()})
		}
	}
	slices.SortFunc(found, func(a, b files.Object) int { return strings.Compare(a.Name, b.Name) })
	return found[:min(limit, len(found))], nil
}

func (m memoryObjects) Get(_ context.Context, name string, _ int64) (io.ReadCloser, int64, error) {
	if !m.names[name] {
		return nil, 0, chat.ErrNotFound
	}
	return io.NopCloser(strings.NewReader("")), 10, nil
}

func (s *filesScene) upload(room, id string) files.Stored {
	s.Helper()
	f := files.Stored{
		File: chat.File{ID: id, Kind: chat.OtherFile, Name: id + ".pdf", Type: "application/pdf", Size: 10},
		Room: room, User: "ann", At: s.at, State: files.Coming, Upload: 10,
	}
	noError(s.T, s.Rows.AddFile(s.Context(), f, 0))
	f.State, f.Hash, f.Folder = files.Ready, bytes.Repeat([]byte(id[:1]), 32), id
	_, err := s.Rows.FinishFile(s.Context(), f, s.at)
	noError(s.T, err)
	s.objects.names[id+"/"+hex.EncodeToString(f.Hash)] = true
	return f
}

func (s *filesScene) send(room, key string, all ...files.Stored) {
	s.Helper()
	d := chat.Draft{ID: room + key, Room: room, From: chat.User{ID: "ann"}, Kind: chat.KindText, Key: room + key, Hash: []byte("h"), At: s.at}
	text := chat.Text{Text: `"files":[`}
	for _, f := range all {
		d.Files, text.Files = append(d.Files, f.ID), append(text.Files, f.File)
	}
	d.Body, _ = chat.Body(text)
	_, _, err := s.Rooms.Append(s.Context(), d)
	noError(s.T, err)
}

func newFilesScene(t *testing.T, u FilesUnderTest) *filesScene {
	t.Helper()
	s := &filesScene{T: t, FilesUnderTest: u, objects: memoryObjects{names: map[string]bool{}}, at: time.UnixMilli(1_700_000_000_000).UTC()}
	for _, room := range []string{"deleted", "room", "second"} {
		_, _, err := u.Rooms.CreateRoom(t.Context(), chat.NewRoom{ID: room, Name: room, Kind: chat.Private, Owner: chat.User{ID: "ann"}, Key: room, Hash: []byte("h"), At: s.at, MaxRooms: 9})
		noError(t, err)
	}
	s.send("room", "1")
	s.send("room", "2", s.upload("room", "a"), s.upload("room", "b"))
	s.send("second", "1", s.upload("second", "c"))
	s.upload("room", "unsent")
	s.send("room", "3", s.upload("room", "recalled"))
	_, err := u.Rooms.Amend(t.Context(), chat.Amendment{ID: "recall", Kind: chat.KindRecall, Room: "room", Target: 3, By: chat.User{ID: "ann"}, At: s.at, Window: time.Hour})
	noError(t, err)
	s.send("room", "5", s.upload("room", "host"), s.upload("room", "later"))
	for _, id := range []string{"host", "later"} {
		noError(t, u.Rows.DropFile(t.Context(), "room", id, s.at, files.DropAny))
	}
	s.send("deleted", "1", s.upload("deleted", "dead"))
	_, err = u.Rooms.Change(t.Context(), chat.Change{Kind: chat.DeleteRoom, Room: "deleted", By: chat.User{ID: "ann"}, At: s.at})
	noError(t, err)
	return s
}

// examined returns what an examination finds, sorted.
func (s *filesScene) examined() (found []string) {
	s.Helper()
	e, err := files.Examine(s.Context(), s.Rows, s.objects, files.Examining{}, func(name, what string) { found = append(found, name+" "+what) })
	noError(s.T, err)
	if e.Entries == 0 {
		s.Error("no entry is examined")
	}
	slices.Sort(found)
	return found
}

// TestFileForgeries changes rows of files and entries. An examination must name each file that does not fit its entry, and nothing else.
func TestFileForgeries(t *testing.T, open func(t *testing.T) FilesUnderTest) {
	const named, unnamed = "is named by the entry %d of the room %s, and ", "belongs to the entry %d of the room %s, which does not name it"
	a := "a " + fmt.Sprintf(named, 2, "room")
	for statement, want := range map[string][]string{
		`delete from files where id = 'a'`:                                                                {a + "has no row", "file_usage has 80 bytes, but the files count 70"},
		`update files set room_id = 'second' where id = 'a'`:                                              {a + "is in the room second", "a " + fmt.Sprintf(unnamed, 2, "second")},
		`update files set seq = 200 where id = 'a'`:                                                       {a + "belongs to the entry 200", "a " + fmt.Sprintf(unnamed, 200, "room")},
		`update files set seq = 1 where id = 'a'`:                                                         {a + "belongs to the entry 1", "a " + fmt.Sprintf(unnamed, 1, "room")},
		`update files set seq = 0 where id = 'a'`:                                                         {a + "belongs to the entry 0"},
		`update files set user_id = 'bob' where id = 'a'`:                                                 {a + "is of the user bob"},
		`update files set state = 'held' where id = 'a'`:                                                  {a + "is held"},
		`update files set body = replace(body, 'a.pdf', 'x.exe') where id = 'a'`:                          {a + "is another file there"},
		`update files set seq = 1 where id = 'unsent'`:                                                    {"unsent " + fmt.Sprintf(unnamed, 1, "room")},
		`update files set seq = 3 where id = 'recalled'`:                                                  {"recalled " + fmt.Sprintf(unnamed, 3, "room")},
		`update entries set body = replace(body, '"b"', '"x"') where room_id = 'room' and seq = 2`:        {"b " + fmt.Sprintf(unnamed, 2, "room"), "x " + fmt.Sprintf(named, 2, "room") + "has no row"},
		`update entries set body = replace(body, '"files":', '"none":') where room_id = 'second'`:         {"c " + fmt.Sprintf(unnamed, 1, "second")},
		`update file_usage set bytes = 1`:                                                                 {"file_usage has 1 bytes, but the files count 80"},
		`delete from files where id = 'later'`:                                                            {"file_usage has 80 bytes, but the files count 70", "later " + fmt.Sprintf(named, 5, "room") + "has no row"},
		`update files set seq = 0 where id = 'later'`:                                                     {"later " + fmt.Sprintf(named, 5, "room") + "belongs to the entry 0"},
		`update entries set body = replace(body, '"text":', '"text":5,"text":') where room_id = 'second'`: nil,
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			s := newFilesScene(t, open(t))
			s.Exec(statement)
			slices.Sort(want)
			if got := s.examined(); !slices.Equal(got, want) {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
	t.Run("untouched", func(t *testing.T) {
		t.Parallel()
		s := newFilesScene(t, open(t))
		wantNone := func(when string) {
			t.Helper()
			if got := s.examined(); len(got) > 0 {
				t.Errorf("%s: found %q, want nothing", when, got)
			}
		}
		wantNone("at first")
		s.sweep()
		wantNone("after a sweep")
		if f, err := s.Rows.StoredFile(t.Context(), "room", "host"); err != nil || f.State != files.Removed || f.Seq != 5 || f.Hash != nil {
			t.Errorf("a file that the host has deleted is %+v, %v", f, err)
		}
		if n, of, err := s.Rows.FileBytes(t.Context()); err != nil || n != 40 || of != 40 {
			t.Errorf("the files that are left have %d bytes, want 40; %v", n, err)
		}
		_, err := s.Rooms.Amend(t.Context(), chat.Amendment{ID: "again", Kind: chat.KindRecall, Room: "room", Target: 5, By: chat.User{ID: "ann"}, At: s.at, Window: time.Hour})
		noError(t, err)
		wantNone("after a recall of a removed file")
		s.sweep()
		for _, id := range []string{"host", "later", "recalled"} {
			if _, err := s.Rows.StoredFile(t.Context(), "room", id); err == nil {
				t.Errorf("%s has a row after its text was recalled", id)
			}
		}
		_, err = s.Rooms.Change(t.Context(), chat.Change{Kind: chat.DeleteRoom, Room: "second", By: chat.User{ID: "ann"}, At: s.at})
		noError(t, err)
		wantNone("after a room was deleted")
		s.sweep()
		wantNone("at last")
	})
	t.Run("in small steps", func(t *testing.T) {
		t.Parallel()
		s := newFilesScene(t, open(t))
		for _, most := range []int{1, 2, 3, 100} {
			var all []files.Place
			steps := 0
			for next, more := (files.Place{}), true; more; more = next != (files.Place{}) {
				found, following, err := s.Rows.NamingEntries(t.Context(), next, most)
				noError(t, err)
				if len(found) > most || steps > 20 {
					t.Fatalf("%d entries of at most %d, in step %d", len(found), most, steps)
				}
				all, next, steps = append(all, found...), following, steps+1
			}
			if want := []files.Place{{Room: "room", Seq: 2}, {Room: "room", Seq: 5}, {Room: "second", Seq: 1}}; !slices.Equal(all, want) {
				t.Errorf("in steps of %d: %v, want %v", most, all, want)
			}
		}
	})
}

// sweep removes all dropped files and, as the program does, those of deleted rooms.
func (s *filesScene) sweep() {
	s.Helper()
	_, _, err := s.Rooms.DeletedRooms(s.Context(), "", 10)
	noError(s.T, err)
	late := time.Now().Add(2 * files.DropGrace)
	swept, err := s.Rows.SweptFiles(s.Context(), late, s.at, 100)
	noError(s.T, err)
	for _, f := range swept {
		if f.State != files.Dropped {
			continue
		}
		for name := range s.objects.names {
			if strings.HasPrefix(name, f.ID+"/") {
				delete(s.objects.names, name)
			}
		}
		_, err := s.Rows.ForgetFile(s.Context(), f.Room, f.ID)
		noError(s.T, err)
	}
}
