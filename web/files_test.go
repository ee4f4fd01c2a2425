package web

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/store/memstore"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

func testPicture(t *testing.T, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	noError(t, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, side, side))))
	return b.Bytes()
}

func fileToken(t *testing.T, user string) string {
	t.Helper()
	return mint(t, auth.Claims{User: user}, time.Hour)
}

// TestFileOverHTTP uploads a picture, sends it, and reads it by a token, by a link and in parts.
func TestFileOverHTTP(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	h := s.Handler()
	ann, bob := s.signIn(t, "ann", 0), s.signIn(t, "bob", 0)
	room := s.room(t, ann, "hall").ID
	call[wire.JoinReply](t, s, bob, "join", wire.JoinRequest{Room: room})
	content := testPicture(t, 400)
	begun := call[wire.FileState](t, s, ann, "begin_file", wire.BeginFileRequest{Room: room, Kind: "picture", Name: "海滩.png", Size: int64(len(content))})
	path := "/v1/files/" + room + "/" + begun.File.ID

	mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", path, "", string(content)), 401)
	mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", path, fileToken(t, "bob"), string(content)), 404)
	for _, offset := range []string{"-1", "x", "9223372036854775808"} {
		mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", path+"?offset="+offset, fileToken(t, "ann"), string(content)), 400)
	}
	mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", path+"?offset=7", fileToken(t, "ann"), string(content)), 409)
	done := mustAnswer[wire.FileState](t, ask(t, h, "POST", path, fileToken(t, "ann"), string(content)), 200)
	if done.State != "ready" || done.File.Width != 400 || done.File.Blur == "" || done.Received != int64(len(content)) {
		t.Fatalf("uploaded: %+v", done)
	}
	if again := call[wire.FileState](t, s, ann, "file_state", wire.FileRequest{Room: room, File: begun.File.ID}); again != done {
		t.Errorf("its state is %+v, want %+v", again, done)
	}
	mustAnswer[wire.ErrorBody](t, ask(t, h, "GET", path+"/original", fileToken(t, "bob"), ""), 404) // it is not sent
	call[wire.SendReply](t, s, ann, "send", wire.SendRequest{Room: room, Key: "look", Files: []string{begun.File.ID}})
	history := call[wire.HistoryReply](t, s, bob, "history", wire.HistoryRequest{Room: room})
	if last := history.Entries[len(history.Entries)-1]; !strings.Contains(string(last.Body), `"files":[{"id":"`+begun.File.ID+`","kind":"picture","name":"海滩.png"`) {
		t.Errorf("the entry is %s", last.Body)
	}

	read := func(query, token string, header ...string) (*http.Response, []byte) {
		r := ask(t, h, "GET", path+query, token, "", header...)
		body, err := io.ReadAll(r.Body)
		noError(t, err)
		return r, body
	}
	r, whole := read("/original", fileToken(t, "bob"))
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != "image/png" || r.Header.Get("Content-Disposition") != "inline" ||
		r.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("status %d, header %v", r.StatusCode, r.Header)
	}
	if _, err := png.Decode(bytes.NewReader(whole)); err != nil {
		t.Error(err)
	}
	if r, part := read("/original", fileToken(t, "bob"), "Range", "bytes=10-19"); r.StatusCode != 206 || !bytes.Equal(part, whole[10:20]) {
		t.Errorf("a range: status %d, %d bytes", r.StatusCode, len(part))
	}
	for _, beyond := range []string{"bytes=1000000-", "bytes=5-3", "bytes=abc"} {
		if r, _ := read("/original", fileToken(t, "bob"), "Range", beyond); r.StatusCode != 416 {
			t.Errorf("range %s: status %d", beyond, r.StatusCode)
		}
	}
	links := call[wire.FileLinksReply](t, s, bob, "file_links", wire.FileLinksRequest{Room: room, Files: []string{begun.File.ID}})
	if r, small := read("/small?"+links.Queries[0], ""); r.StatusCode != 200 || len(small) == 0 {
		t.Errorf("by a link: status %d", r.StatusCode)
	}
	for _, forged := range []string{"/small?" + strings.Replace(links.Queries[0], "user=bob", "user=ann", 1), "/small?mac=x&user=bob&until=x"} {
		if r, _ := read(forged, ""); r.StatusCode != 403 {
			t.Errorf("%s: status %d", forged, r.StatusCode)
		}
	}
	if r, _ := read("/original", ""); r.StatusCode != 401 {
		t.Errorf("without a token: status %d", r.StatusCode)
	}
	if r, _ := read("/huge", fileToken(t, "bob")); r.StatusCode != 404 {
		t.Errorf("another version: status %d", r.StatusCode)
	}
	call[wire.LeaveReply](t, s, bob, "leave", wire.LeaveRequest{Room: room})
	if r, _ := read("/small?"+links.Queries[0], ""); r.StatusCode == 200 {
		t.Error("the link of a user that has left opens the file")
	}
}

// lostObjects are objects that cannot be read while lost is set.
type lostObjects struct {
	files.Objects
	lost   atomic.Bool
	opened atomic.Int32 // calls of Get
}

func (o *lostObjects) Get(ctx context.Context, name string, offset int64) (io.ReadCloser, int64, error) {
	o.opened.Add(1)
	if o.lost.Load() {
		return nil, 0, chat.ErrUnavailable
	}
	return o.Objects.Get(ctx, name, offset)
}

// TestLinkOfASuspendedUserOpensNothing reads a file by the link of a user before, during and after a suspension.
func TestLinkOfASuspendedUserOpensNothing(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann := s.signIn(t, "ann", 0)
	room := s.room(t, ann, "hall").ID
	id := s.upload(t, ann, room, "a report").ID
	links := call[wire.FileLinksReply](t, s, ann, "file_links", wire.FileLinksRequest{Room: room, Files: []string{id}})
	want := func(status int) {
		t.Helper()
		if r := ask(t, s.Handler(), "GET", "/v1/files/"+room+"/"+id+"/original?"+links.Queries[0], "", ""); r.StatusCode != status {
			t.Errorf("status %d, want %d", r.StatusCode, status)
		}
	}
	want(200)
	_, err := s.chat.Suspend(t.Context(), "ann")
	noError(t, err)
	want(403)
	_, err = s.chat.Reinstate(t.Context(), "ann")
	noError(t, err)
	want(200)
}

// TestManyRangesOpenOnce asks for many ranges of a file in one request. The answer must be the whole file, read once.
func TestManyRangesOpenOnce(t *testing.T) {
	t.Parallel()
	engines := newTestEngines(t)
	counted := &lostObjects{Objects: engines.objects}
	engines.objects = counted
	s := engines.open(t, func(o *Options) { o.Alone = true })
	ann := s.signIn(t, "ann", 0)
	room := s.room(t, ann, "hall").ID
	path := "/v1/files/" + room + "/" + s.upload(t, ann, room, "a long report").ID + "/original"
	counted.opened.Store(0)
	r := ask(t, s.Handler(), "GET", path, fileToken(t, "ann"), "", "Range", "bytes=0-0"+strings.Repeat(",2-2,0-0", 100))
	body, err := io.ReadAll(r.Body)
	noError(t, err)
	if n := counted.opened.Load(); r.StatusCode != 200 || string(body) != "a long report" || n != 1 {
		t.Errorf("status %d, %q, the object was opened %d times", r.StatusCode, body, n)
	}
}

// TestFailedDownloadIsNotCached reads a file while the object store fails. No cache may keep the error.
func TestFailedDownloadIsNotCached(t *testing.T) {
	t.Parallel()
	engines := newTestEngines(t)
	lost := &lostObjects{Objects: engines.objects}
	engines.objects = lost
	s := engines.open(t, func(o *Options) { o.Alone = true })
	ann := s.signIn(t, "ann", 0)
	room := s.room(t, ann, "hall").ID
	path := "/v1/files/" + room + "/" + s.upload(t, ann, room, "a report").ID + "/original"
	if r := ask(t, s.Handler(), "GET", path, fileToken(t, "ann"), ""); r.StatusCode != 200 || r.Header.Get("Cache-Control") != "private, max-age=900" {
		t.Errorf("status %d, header %v", r.StatusCode, r.Header)
	}
	lost.lost.Store(true)
	if r := ask(t, s.Handler(), "GET", path, fileToken(t, "ann"), ""); r.StatusCode != 503 || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, header %v", r.StatusCode, r.Header)
	}
}

// TestDownloadIsNoPage uploads HTML as a file. Browsers must not show it.
func TestDownloadIsNoPage(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann := s.signIn(t, "ann", 0)
	room := s.room(t, ann, "hall").ID
	f := s.upload(t, ann, room, "<script>alert(1)</script>")
	r := ask(t, s.Handler(), "GET", "/v1/files/"+room+"/"+f.ID+"/original", fileToken(t, "ann"), "")
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(r.Header.Get("Content-Disposition"), "attachment;") ||
		r.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("status %d, header %v", r.StatusCode, r.Header)
	}
}

// TestServerWithoutFiles has no object store. All that is about files must be refused, and the limits must not have them.
func TestServerWithoutFiles(t *testing.T) {
	t.Parallel()
	engines := newTestEngines(t)
	engines.objects = nil
	s := engines.open(t, func(o *Options) { o.Alone = true })
	ann := s.signIn(t, "ann", 0)
	room := s.room(t, ann, "hall").ID
	for method, request := range map[string]any{
		"begin_file":  wire.BeginFileRequest{Room: room, Kind: "file", Name: "a", Size: 1},
		"file_state":  wire.FileRequest{Room: room, File: "f"},
		"cancel_file": wire.FileRequest{Room: room, File: "f"},
		"file_links":  wire.FileLinksRequest{Room: room, Files: []string{"f"}},
	} {
		if err := s.refused(t, ann, method, encoded(t, request)); err.Code != wire.CodeNotFound {
			t.Errorf("%s: %v", method, err)
		}
	}
	for _, verb := range []string{"POST", "GET"} {
		path := "/v1/files/" + room + "/f"
		if verb == "GET" {
			path += "/original"
		}
		mustAnswer[wire.ErrorBody](t, ask(t, s.Handler(), verb, path, fileToken(t, "ann"), ""), 404)
	}
	if l := limits(s.commands, s.o); l.Files != 0 || l.FileBytes != 0 || l.FileDayBytes != 0 {
		t.Errorf("limits %+v", l)
	}
}

// TestUploadsOfADayAreBounded lets a user begin uploads beyond the bytes of a day.
func TestUploadsOfADayAreBounded(t *testing.T) {
	t.Parallel()
	limiter := memstore.NewLimiter(memstore.LimiterOptions{})
	s := newTestServer(t, func(o *Options) { o.Rates, o.Local, o.FileDay = true, limiter, 4<<20 })
	ann, bob := s.signIn(t, "ann", 0), s.signIn(t, "bob", 0)
	room := s.room(t, ann, "hall").ID
	call[wire.JoinReply](t, s, bob, "join", wire.JoinRequest{Room: room})
	begin := wire.BeginFileRequest{Room: room, Kind: "file", Name: "a", Size: 2 << 20}
	for range 2 {
		call[wire.FileState](t, s, ann, "begin_file", begin)
	}
	if err := s.refused(t, ann, "begin_file", encoded(t, begin)); err.Code != wire.CodeRateLimited {
		t.Errorf("beyond the bytes of a day: %v", err)
	}
	call[wire.FileState](t, s, bob, "begin_file", begin)
}

// TestUploadsAtOnceAreBounded takes all places of a user, and then all of an address. Uploads of others go on.
func TestUploadsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUploads()
		begin := func(user, address string) (func(), error) {
			ctx, cancel := context.WithTimeout(t.Context(), httpTime)
			defer cancel()
			return u.begin(ctx, user, address)
		}
		var ends []func()
		for range uploadsOfUser {
			end, err := begin("ann", "1")
			noError(t, err)
			ends = append(ends, end)
		}
		if _, err := begin("ann", "2"); !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("one more of the user: %v", err)
		}
		for n := range uploadsOfOrigin - uploadsOfUser {
			end, err := begin("user "+strconv.Itoa(n), "1")
			noError(t, err)
			ends = append(ends, end)
		}
		if _, err := begin("bob", "1"); !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("one more of the address: %v", err)
		}
		end, err := begin("bob", "2")
		noError(t, err)
		for _, end := range append(ends, end) {
			end()
		}
		if end, err = begin("ann", "1"); err != nil {
			t.Fatalf("after all have ended: %v", err)
		}
		end()
	})
}

// TestUploadIsSentInPieces sends an upload by requests of one piece each.
func TestUploadIsSentInPieces(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann := s.signIn(t, "ann", 0)
	room := s.room(t, ann, "hall").ID
	content := bytes.Repeat([]byte("0123456789abcdef"), 3*files.PieceBytes/16)
	f := call[wire.FileState](t, s, ann, "begin_file", wire.BeginFileRequest{Room: room, Kind: "file", Name: "a", Size: int64(len(content))})
	for part := range slices.Chunk(content, files.PieceBytes) {
		path := "/v1/files/" + room + "/" + f.File.ID + "?offset=" + strconv.FormatInt(f.Received, 10)
		f = mustAnswer[wire.FileState](t, ask(t, s.Handler(), "POST", path, fileToken(t, "ann"), string(part)), 200)
	}
	r := ask(t, s.Handler(), "GET", "/v1/files/"+room+"/"+f.File.ID+"/original", fileToken(t, "ann"), "")
	if got, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(got, content) || f.State != "ready" {
		t.Errorf("%s: read %d bytes, %v", f.State, len(got), errors.Join(err))
	}
}
