package files_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/store/objects"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
)

var migrated = storetest.NewFileTemplate(sqlitestore.FileName, func(dir string) error {
	store, err := sqlitestore.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return store.Close()
})

// fixture is a service over a real store and a folder, with a clock of its own.
type fixture struct {
	*testing.T
	*files.Service
	rooms   *chat.Service
	rows    *sqlitestore.Store
	objects *faultyObjects
	now     time.Time
	judge   files.Judge
	room    string
	dir     string
}

var ann, bob, eve = chat.User{ID: "ann", Name: "Ann"}, chat.User{ID: "bob", Name: "Bob"}, chat.User{ID: "eve", Name: "Eve"}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := migrated.Copy(t)
	store, err := sqlitestore.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	noError(t, err)
	t.Cleanup(func() { noError(t, store.Close()) })
	folder, err := objects.OpenFolder(filepath.Join(dir, "files"))
	noError(t, err)
	f := &fixture{T: t, dir: dir, rows: store, objects: &faultyObjects{Objects: folder}, now: time.Now().Truncate(time.Second)}
	now := func() time.Time { return f.now }
	f.rooms = chat.New(store, quiet{}, chat.Options{Now: now})
	f.Service = files.New(store, f.objects, f.rooms, files.Options{
		Limits: files.Limits{Bytes: 10 << 20, Total: 20 << 20}, Key: []byte("a key of the links"), Now: now, Log: slog.New(slog.DiscardHandler),
	})
	_, err = f.rooms.Admit(t.Context(), chat.Profile{User: bob}, time.Time{})
	noError(t, err)
	room, _, err := f.rooms.CreateRoom(t.Context(), ann, chat.CreateRoom{Name: "room", Kind: chat.Private, Key: "room", Members: []string{bob.ID}})
	noError(t, err)
	f.room = room.Room.ID
	return f
}

// quiet publishes nothing.
type quiet struct{}

func (quiet) Entry(chat.Entry)               {}
func (quiet) StandingChanged(string, string) {}
func (quiet) ToUser(string, chat.Event)      {}
func (quiet) ToRoom(string, chat.Event)      {}

// faultyObjects is a real object store. A test can make calls fail.
type faultyObjects struct {
	files.Objects

	mu   sync.Mutex
	fail func(call, name string) error // guarded by mu; nil: no call fails
	puts []string                      // guarded by mu; names that were put
}

func (o *faultyObjects) failing(fail func(call, name string) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail = fail
}

func (o *faultyObjects) check(call, name string) error {
	o.mu.Lock()
	if call == "put" {
		o.puts = append(o.puts, name)
	}
	fail := o.fail
	o.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(call, name)
}

func (o *faultyObjects) Put(ctx context.Context, name string, data io.Reader, size int64) error {
	if err := o.check("put", name); err != nil {
		return err
	}
	return o.Objects.Put(ctx, name, data, size)
}

func (o *faultyObjects) Get(ctx context.Context, name string, offset int64) (io.ReadCloser, int64, error) {
	if err := o.check("get", name); err != nil {
		return nil, 0, err
	}
	return o.Objects.Get(ctx, name, offset)
}

func (o *faultyObjects) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := o.check("delete", name); err != nil {
			return err
		}
	}
	return o.Objects.Delete(ctx, names...)
}

// stored returns the names of all objects.
func (f *fixture) stored() (names []string) {
	f.Helper()
	all, err := f.objects.List(f.Context(), "", "", 1000)
	noError(f.T, err)
	for _, o := range all {
		names = append(names, o.Name)
	}
	return names
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError fails the test unless err is the error want. field is the field that it names; "": any.
func (f *fixture) wantError(err, want error, field string) {
	f.Helper()
	var bad *chat.FieldError
	if errors.As(err, &bad); !errors.Is(err, want) || field != "" && (bad == nil || bad.Field != field) {
		f.Errorf("got error %v, want %v of %q", err, want, field)
	}
}

// begin begins the upload of a file of the kind OtherFile.
func (f *fixture) begin(user chat.User, size int) files.Stored {
	f.Helper()
	s, err := f.Begin(f.Context(), user, files.Upload{Room: f.room, Kind: chat.OtherFile, Name: "plan.pdf", Type: "application/pdf", Size: int64(size)})
	noError(f.T, err)
	return s
}

func (f *fixture) receive(user chat.User, s files.Stored, offset int64, content io.Reader) (files.Stored, error) {
	f.Helper()
	return f.Receive(f.Context(), files.Transfer{
		User: user, Room: s.Room, File: s.ID, Offset: offset, Content: content, More: func() {}, Judge: f.judge,
	})
}

// uploaded returns a file that is whole.
func (f *fixture) uploaded(user chat.User, content []byte) files.Stored {
	f.Helper()
	s, err := f.receive(user, f.begin(user, len(content)), 0, bytes.NewReader(content))
	noError(f.T, err)
	return s
}

var sent int

func (f *fixture) send(user chat.User, all ...files.Stored) (chat.Receipt, error) {
	sent++
	m := chat.Message{Room: f.room, Key: "send-" + strconv.Itoa(sent)}
	for _, s := range all {
		m.Files = append(m.Files, s.ID)
	}
	return f.rooms.Send(f.Context(), user, m)
}

// content reads a version of a file as the user.
func (f *fixture) content(user chat.User, s files.Stored, v files.Version) ([]byte, files.Content, error) {
	f.Helper()
	c, err := f.Open(f.Context(), user.ID, s.Room, s.ID, v)
	if err != nil {
		return nil, c, err
	}
	body, err := c.Read(f.Context(), 0)
	if err != nil {
		return nil, c, err
	}
	data, err := io.ReadAll(body)
	noError(f.T, errors.Join(err, body.Close()))
	return data, c, nil
}

// bytesOf returns n bytes that depend on the seed.
func bytesOf(n int, seed byte) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i>>8) ^ byte(i) ^ seed
	}
	return data
}

func TestUploadGoesOnAfterACut(t *testing.T) {
	f := newFixture(t)
	content := bytesOf(3*files.PieceBytes+7, 1)
	s := f.begin(ann, len(content))
	broken := errors.New("the connection broke")
	_, err := f.receive(ann, s, 0, io.MultiReader(bytes.NewReader(content[:files.PieceBytes+5]), errReader{broken}))
	if !errors.Is(err, broken) {
		t.Fatalf("got error %v, want %v", err, broken)
	}
	at, err := f.Own(t.Context(), ann.ID, f.room, s.ID)
	noError(t, err)
	if at.Received != files.PieceBytes || at.State != files.Coming {
		t.Fatalf("after the cut it is %s with %d bytes", at.State, at.Received)
	}
	_, err = f.receive(ann, s, 0, bytes.NewReader(content))
	f.wantError(err, chat.ErrConflict, "offset")
	_, err = f.receive(ann, s, at.Received, bytes.NewReader(content[at.Received:at.Received+3]))
	f.wantError(err, chat.ErrBadRequest, "content")
	_, err = f.receive(ann, s, at.Received, bytes.NewReader(append(slices.Clone(content[at.Received:]), 'x')))
	f.wantError(err, chat.ErrBadRequest, "content")
	at, err = f.Own(t.Context(), ann.ID, f.room, s.ID)
	noError(t, err)
	done, err := f.receive(ann, s, at.Received, bytes.NewReader(content[at.Received:]))
	noError(t, err)
	again, err := f.receive(ann, s, 0, strings.NewReader("anything")) // it is complete
	noError(t, err)
	if done.State != files.Ready || again.State != files.Ready || done.Size != int64(len(content)) {
		t.Errorf("got %+v and %+v", done, again)
	}
	if got, _, err := f.content(ann, done, files.Original); err != nil || !bytes.Equal(got, content) {
		t.Errorf("read %d bytes, err %v", len(got), err)
	}
	if names := f.stored(); len(names) != 1 || !strings.HasPrefix(names[0], s.ID+"/") {
		t.Errorf("stored are %v, want only the content", names)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestWrongUploadsAreRefused(t *testing.T) {
	f := newFixture(t)
	good := files.Upload{Room: f.room, Kind: chat.OtherFile, Name: "a.pdf", Size: 10}
	voice := files.Upload{Room: f.room, Kind: chat.VoiceFile, Size: 10, DurationMS: 1000, Wave: "AAEC"}
	for field, change := range map[string][]func(*files.Upload){
		"kind": {func(u *files.Upload) { u.Kind = "video" }},
		"size": {func(u *files.Upload) { u.Size = 0 }, func(u *files.Upload) { u.Size = 10<<20 + 1 }},
		"type": {func(u *files.Upload) { u.Type = "text/html; charset=utf-8" }, func(u *files.Upload) { u.Type = "pdf" }, func(u *files.Upload) { u.Type = "a/b\r\nSet-Cookie: x" }},
		"name": {
			func(u *files.Upload) { u.Name = "" }, func(u *files.Upload) { u.Name = "../a" }, func(u *files.Upload) { u.Name = `a\b` }, func(u *files.Upload) { u.Name = ".." },
			func(u *files.Upload) { u.Name = "a\x00b" }, func(u *files.Upload) { u.Name = "a\u202egpj.exe" }, func(u *files.Upload) { u.Name = " a" },
			func(u *files.Upload) { u.Name = "\xff" }, func(u *files.Upload) { u.Name = strings.Repeat("a", 256) },
		},
		"duration_ms": {
			func(u *files.Upload) { u.DurationMS = 5 }, func(u *files.Upload) { *u = voice; u.DurationMS = 0 }, func(u *files.Upload) { *u = voice; u.DurationMS = 120_001 },
		},
		"wave": {func(u *files.Upload) { *u = voice; u.Wave = "!" }, func(u *files.Upload) { *u = voice; u.Wave = strings.Repeat("A", 88) }},
	} {
		for n, change := range change {
			u := good
			change(&u)
			_, err := f.Begin(t.Context(), ann, u)
			var bad *chat.FieldError
			if !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%s %d: got error %v", field, n, err)
			}
		}
	}
	_, err := f.Begin(t.Context(), eve, good)
	f.wantError(err, chat.ErrNotFound, "")
	if n, of, err := f.rows.FileBytes(t.Context()); err != nil || n != 0 || of != 0 {
		t.Errorf("refused uploads take %d bytes, err %v", n, err)
	}
	for range 2 {
		_, err = f.Begin(t.Context(), ann, files.Upload{Room: f.room, Kind: chat.OtherFile, Name: "a", Size: 10 << 20})
		noError(t, err)
	}
	_, err = f.Begin(t.Context(), ann, good)
	f.wantError(err, chat.ErrLimitExceeded, "size")
}

func testPNG(t *testing.T, side int) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side {
		p.Set(i, i, color.RGBA{uint8(i), 200, 100, 255})
	}
	var b bytes.Buffer
	noError(t, png.Encode(&b, p))
	return b.Bytes()
}

func (f *fixture) upload(user chat.User, u files.Upload, content []byte) (files.Stored, error) {
	f.Helper()
	u.Room, u.Size = f.room, int64(len(content))
	s, err := f.Begin(f.Context(), user, u)
	noError(f.T, err)
	return f.receive(user, s, 0, bytes.NewReader(content))
}

// TestUsersTakeTurnsWithPictures blocks one picture for longer than a picture may be processed, while two more of its user wait, and then one of
// another user. That one must be next, and all that have waited must become ready.
func TestUsersTakeTurnsWithPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		content, release := testPNG(t, 20), make(chan struct{})
		order, errs := []string{}, make(chan error, 4)
		f.objects.failing(func(call, name string) error {
			if call == "get" {
				order = append(order, name[:len(chat.NewID(f.now))])
				if len(order) == 1 {
					<-release
				}
			}
			return nil
		})
		var begun []string
		for _, user := range []chat.User{ann, ann, ann, bob} {
			s, err := f.Begin(t.Context(), user, files.Upload{Room: f.room, Kind: chat.PictureFile, Size: int64(len(content))})
			noError(t, err)
			begun = append(begun, s.ID)
			go func() {
				_, err := f.receive(user, s, 0, bytes.NewReader(content))
				errs <- err
			}()
			synctest.Wait()
		}
		time.Sleep(3 * time.Minute)
		close(release)
		synctest.Wait()
		if want := []string{begun[0], begun[3], begun[1], begun[2]}; !slices.Equal(order, want) {
			t.Errorf("processed in the order %v, want %v", order, want)
		}
		f.wantError(<-errs, chat.ErrUnavailable, "") // the blocked one
		for range begun[1:] {
			noError(t, <-errs)
		}
	})
}

func TestPictureIsMadeAnewInThreeSizes(t *testing.T) {
	f := newFixture(t)
	s, err := f.upload(ann, files.Upload{Kind: chat.PictureFile, Name: "beach.png"}, append(testPNG(t, 400), "a tail that is no picture"...))
	noError(t, err)
	if s.Width != 400 || s.Height != 400 || s.Blur == "" || s.Name != "beach.png" {
		t.Errorf("got %+v", s.File)
	}
	sizes := map[files.Version]int{}
	for _, v := range []files.Version{files.Original, files.Middle, files.Small} {
		data, c, err := f.content(ann, s, v)
		noError(t, err)
		p, kind, err := image.Decode(bytes.NewReader(data))
		noError(t, err)
		if "image/"+kind != c.Type || c.Disposition != "inline" || c.Size != int64(len(data)) || bytes.Contains(data, []byte("a tail")) {
			t.Errorf("%s: %+v of %d bytes is a %s", v, c, len(data), kind)
		}
		sizes[v] = p.Bounds().Dx()
	}
	if want := map[files.Version]int{files.Original: 400, files.Middle: 400, files.Small: 320}; !maps.Equal(sizes, want) {
		t.Errorf("got the sizes %v, want %v", sizes, want)
	}
	if _, _, err := f.content(ann, s, "huge"); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("a version that is none: %v", err)
	}
}

func TestWhatIsNoPictureIsDropped(t *testing.T) {
	f := newFixture(t)
	for kind, content := range map[chat.FileKind]string{chat.PictureFile: "<svg onload=alert(1)>", chat.VoiceFile: "no recording"} {
		u := files.Upload{Kind: kind}
		if kind == chat.VoiceFile {
			u.DurationMS = 1000
		}
		_, err := f.upload(ann, u, []byte(content))
		f.wantError(err, chat.ErrBadRequest, "file")
	}
	f.now = f.now.Add(files.DropGrace)
	f.Sweep(t.Context())
	if names := f.stored(); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
	if n, of, err := f.rows.FileBytes(t.Context()); err != nil || n != 0 || of != 0 {
		t.Errorf("left: %d bytes, err %v", n, err)
	}
}

func TestWhoReadsAFile(t *testing.T) {
	f := newFixture(t)
	s := f.uploaded(ann, []byte("secret"))
	reads := func(user chat.User, want error) {
		t.Helper()
		if _, _, err := f.content(user, s, files.Original); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", user.ID, err, want)
		}
	}
	reads(ann, nil)
	reads(bob, chat.ErrNotFound) // it is not sent
	_, err := f.send(bob, s)
	f.wantError(err, chat.ErrConflict, "files")
	sent, err := f.send(ann, s)
	noError(t, err)
	reads(bob, nil)
	reads(eve, chat.ErrNotFound)
	f.wantError(f.Cancel(t.Context(), bob.ID, f.room, s.ID), chat.ErrNotFound, "")
	f.wantError(f.Cancel(t.Context(), ann.ID, f.room, s.ID), chat.ErrConflict, "file")
	_, c, err := f.content(bob, s, files.Small)
	noError(t, err)
	if c.Type != "application/octet-stream" || c.Disposition != "attachment; filename=plan.pdf" {
		t.Errorf("served as %+v", c.Headers)
	}
	noError(t, f.rooms.Kick(t.Context(), ann, f.room, bob.ID))
	reads(bob, chat.ErrNotMember)
	_, err = f.rooms.Recall(t.Context(), ann, f.room, sent.Seq)
	noError(t, err)
	reads(ann, chat.ErrNotFound)
	f.now = f.now.Add(files.DropGrace)
	f.Sweep(t.Context())
	if names := f.stored(); len(names) != 0 {
		t.Errorf("after the recall are stored %v", names)
	}
}

func TestLinks(t *testing.T) {
	f := newFixture(t)
	s := f.uploaded(ann, []byte("secret"))
	_, _, err := f.Links(t.Context(), eve.ID, f.room, []string{s.ID})
	f.wantError(err, chat.ErrNotFound, "")
	queries, until, err := f.Links(t.Context(), bob.ID, f.room, []string{s.ID, "other"})
	noError(t, err)
	if left := until.Sub(f.now); len(queries) != 2 || left > files.LinkFor || left <= files.LinkFor-5*time.Minute {
		t.Fatalf("got %v until %v", queries, until)
	}
	q, err := url.ParseQuery(queries[0])
	noError(t, err)
	l := files.Link{Room: f.room, File: s.ID, User: q.Get("user"), Until: until.Unix()}
	if err := f.Verify(l, q.Get("mac")); err != nil || l.User != bob.ID {
		t.Errorf("the link is of %q, err %v", l.User, err)
	}
	for n, change := range []func(l *files.Link, mac *string){
		func(l *files.Link, _ *string) { l.User = ann.ID },
		func(l *files.Link, _ *string) { l.File = "other" },
		func(l *files.Link, _ *string) { l.Room = "other" },
		func(l *files.Link, _ *string) { l.Until++ },
		func(_ *files.Link, mac *string) { *mac = "" },
		func(_ *files.Link, _ *string) { f.now = until },
	} {
		forged, mac := l, q.Get("mac")
		change(&forged, &mac)
		if err := f.Verify(forged, mac); !errors.Is(err, chat.ErrForbidden) {
			t.Errorf("forged %d: got error %v", n, err)
		}
	}
	_, _, err = f.Links(t.Context(), bob.ID, f.room, make([]string, files.LinksAtOnce+1))
	f.wantError(err, chat.ErrLimitExceeded, "files")
}

func TestOneContentIsStoredOnceForEachRoom(t *testing.T) {
	f := newFixture(t)
	first, second := f.uploaded(ann, []byte("the same")), f.uploaded(bob, []byte("the same"))
	if names := f.stored(); len(names) != 1 {
		t.Errorf("stored are %v", names)
	}
	noError(t, f.Cancel(t.Context(), ann.ID, f.room, first.ID))
	f.now = f.now.Add(files.DropGrace)
	f.Sweep(t.Context())
	if got, _, err := f.content(bob, second, files.Original); err != nil || string(got) != "the same" {
		t.Errorf("read %q, err %v", got, err)
	}
	noError(t, f.Cancel(t.Context(), bob.ID, f.room, second.ID))
	f.now = f.now.Add(files.DropGrace)
	for range 2 { // the first one goes after the second one
		f.Sweep(t.Context())
	}
	if names := f.stored(); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

// TestUploadsThatEndAnywhereLeaveNothing lets each call of the object store fail in turn, as if the store or the process had ended there. After a day
// and the sweeps, nothing may be left.
func TestUploadsThatEndAnywhereLeaveNothing(t *testing.T) {
	f := newFixture(t)
	down := fmt.Errorf("%w: the store is down", chat.ErrUnavailable)
	ended := 0
	for step := 0; ; step++ {
		content := testPNG(t, 400+step) // another one, or it would be in the store already
		calls := 0
		f.objects.failing(func(string, string) error {
			if calls++; calls > step {
				return down
			}
			return nil
		})
		s, err := f.Begin(t.Context(), ann, files.Upload{Room: f.room, Kind: chat.PictureFile, Size: int64(len(content))})
		noError(t, err)
		_, err = f.receive(ann, s, 0, bytes.NewReader(content))
		f.objects.failing(nil)
		if err == nil && calls <= step {
			break
		}
		ended++
		if err != nil { // the client tries again
			at, err := f.Own(t.Context(), ann.ID, f.room, s.ID)
			noError(t, err)
			if _, err = f.receive(ann, s, at.Received, bytes.NewReader(content[at.Received:])); err != nil {
				t.Errorf("step %d: again: %v", step, err)
			}
		}
		if _, _, err := f.content(ann, s, files.Small); err != nil {
			t.Errorf("step %d: %v", step, err)
		}
	}
	if ended < 4 {
		t.Errorf("only %d steps", ended)
	}
	f.now = f.now.Add(files.UnsentFor + time.Second)
	f.Sweep(t.Context())
	f.now = f.now.Add(files.DropGrace)
	for range ended + 1 {
		f.Sweep(t.Context())
	}
	if names := f.stored(); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
	if n, of, err := f.rows.FileBytes(t.Context()); err != nil || n != 0 || of != 0 {
		t.Errorf("left: %d bytes, err %v", n, err)
	}
}

// TestPieceOfAnotherRequestChangesNothing lets a second request replace a piece while the upload is processed, and bring one when it is processed. What is
// stored must have the hash that names it, and no piece may stay.
func TestPieceOfAnotherRequestChangesNothing(t *testing.T) {
	f := newFixture(t)
	s := f.begin(ann, 5)
	gets := 0
	f.objects.failing(func(call, _ string) error {
		if call == "get" {
			if gets++; gets == 2 { // the content was hashed, and is read again
				noError(t, f.objects.Objects.Put(t.Context(), s.ID+"/piece-0", strings.NewReader("wrong"), 5))
			}
		}
		return nil
	})
	_, err := f.receive(ann, s, 0, strings.NewReader("right"))
	f.wantError(err, chat.ErrConflict, "")
	f.objects.failing(nil)
	done, err := f.receive(ann, s, 5, strings.NewReader(""))
	noError(t, err)
	got, _, err := f.content(ann, done, files.Original)
	noError(t, err)
	if sum := sha256.Sum256(got); !bytes.Equal(sum[:], done.Hash) {
		t.Errorf("%q is stored under another hash", got)
	}
	slow := &sideEffect{Reader: strings.NewReader("later"), happen: func() {}}
	second := f.begin(ann, 5)
	slow.happen = func() { _, err = f.receive(ann, second, 0, strings.NewReader("first")) }
	_, failed := f.receive(ann, second, 0, slow)
	noError(t, err)
	f.wantError(failed, chat.ErrConflict, "")
	if names := f.stored(); len(names) != 2 {
		t.Errorf("stored are %v, want two contents", names)
	}
}

// sideEffect calls happen before the first read.
type sideEffect struct {
	io.Reader
	happen func()
}

func (s *sideEffect) Read(p []byte) (int, error) {
	happen := s.happen
	s.happen = func() {}
	happen()
	return s.Reader.Read(p)
}

func TestStuckRemovalDelaysNoOther(t *testing.T) {
	f := newFixture(t)
	stuck, other := f.uploaded(ann, []byte("stuck")), f.uploaded(ann, []byte("other"))
	for _, s := range []files.Stored{stuck, other} {
		noError(t, f.Cancel(t.Context(), ann.ID, f.room, s.ID))
	}
	tries := 0
	f.objects.failing(func(call, name string) error {
		if call == "delete" && strings.HasPrefix(name, stuck.ID) {
			tries++
			return chat.ErrUnavailable
		}
		return nil
	})
	f.now = f.now.Add(files.DropGrace)
	for range 2 { // the second sweep leaves it alone
		f.Sweep(t.Context())
	}
	if names := f.stored(); len(names) != 1 || !strings.HasPrefix(names[0], stuck.ID) || tries != 1 {
		t.Errorf("left: %v after %d tries", names, tries)
	}
	f.objects.failing(nil)
	f.now = f.now.Add(time.Hour)
	f.Sweep(t.Context())
	if names := f.stored(); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

func TestHostJudgesFiles(t *testing.T) {
	f := newFixture(t)
	var asked files.Stored
	f.judge = func(_ context.Context, _ chat.User, s files.Stored) (bool, error) {
		asked = s
		return true, nil
	}
	held := f.uploaded(ann, []byte("held"))
	if held.State != files.Held || len(asked.Hash) != 32 {
		t.Fatalf("it is %s, asked about %+v", held.State, asked)
	}
	_, err := f.send(ann, held)
	f.wantError(err, chat.ErrConflict, "files")
	if _, _, err := f.content(ann, held, files.Original); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("a held file is read: %v", err)
	}
	_, err = f.rows.ReleaseFile(t.Context(), f.room, held.ID)
	noError(t, err)
	_, err = f.send(ann, held)
	noError(t, err)

	denied := errors.New("denied by the host")
	f.judge = func(context.Context, chat.User, files.Stored) (bool, error) { return false, denied }
	s := f.begin(ann, 3)
	if _, err = f.receive(ann, s, 0, strings.NewReader("bad")); !errors.Is(err, denied) {
		t.Errorf("got error %v", err)
	}
	_, err = f.Own(t.Context(), ann.ID, f.room, s.ID)
	f.wantError(err, chat.ErrNotFound, "")

	f.judge = func(context.Context, chat.User, files.Stored) (bool, error) { return false, chat.ErrUnavailable }
	s = f.begin(ann, 3)
	_, err = f.receive(ann, s, 0, strings.NewReader("who"))
	f.wantError(err, chat.ErrUnavailable, "")
	f.judge = nil
	_, err = f.receive(ann, s, 3, strings.NewReader("")) // the host answers again
	noError(t, err)
}

func TestLostObjectIsUnavailable(t *testing.T) {
	f := newFixture(t)
	s := f.uploaded(ann, []byte("lost"))
	noError(t, f.objects.Delete(t.Context(), f.stored()...))
	_, _, err := f.content(ann, s, files.Original)
	f.wantError(err, chat.ErrUnavailable, "")
}
