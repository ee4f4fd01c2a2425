package crash

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

const bucket = "files"

// failingS3 is an S3 store in memory whose fault may answer requests. A fault returns false for those that the store is to answer.
type failingS3 struct {
	*httptest.Server
	store http.Handler
	kept  *s3mem.Backend
	fault atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
}

func newFailingS3(t *testing.T) *failingS3 {
	t.Helper()
	s := &failingS3{kept: s3mem.New()}
	e2e.NoError(t, s.kept.CreateBucket(bucket))
	s.store = gofakes3.New(s.kept, gofakes3.WithTimeSkewLimit(0)).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := s.fault.Load(); fault == nil || !(*fault)(w, r) {
			s.store.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// fails lets a fault answer the requests with a method, from the given one on.
func (s *failingS3) fails(method string, from int, answer http.HandlerFunc) {
	var seen atomic.Int64
	fault := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || seen.Add(1) < int64(from) {
			return false
		}
		answer(w, r)
		return true
	}
	s.fault.Store(&fault)
}

func (s *failingS3) heals() { s.fault.Store(nil) }

// objects lists what the store has.
func (s *failingS3) objects(t *testing.T) (names []string) {
	t.Helper()
	list, err := s.kept.ListBucket(bucket, &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
	e2e.NoError(t, err)
	for _, object := range list.Contents {
		names = append(names, object.Key)
	}
	return names
}

// refused answers as a store does whose key may not do this.
func refused(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>no</Message></Error>")
}

// overloaded answers as a store does that is asked too often.
func overloaded(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, "<Error><Code>SlowDown</Code><Message>later</Message></Error>")
}

// cut reads a part of the request and closes the connection.
func cut(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.CopyN(io.Discard, r.Body, 1000)
	panic(http.ErrAbortHandler)
}

// halfWriter closes the connection after so many bytes of the content.
type halfWriter struct {
	http.ResponseWriter
	left int
}

func (w *halfWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p[:min(len(p), w.left)])
	if w.left -= n; w.left == 0 {
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// TestFailingStoreOfFiles lets an S3 store refuse, be overloaded, lose its connection, be slow and forget an object, each in the midst of an upload or a download of a running
// server. An upload must be told, chat must go on, and no message may have half a file. The upload goes on when the store is well again. A day later the store has only
// what was sent.
func TestFailingStoreOfFiles(t *testing.T) {
	t.Parallel()
	dir, s3 := t.TempDir(), newFailingS3(t)
	clock := filepath.Join(dir, "clock")
	shift := func(by string) { e2e.NoError(t, os.WriteFile(clock, []byte(by), 0o600)) }
	shift("0s")
	s := e2e.Start(t, e2e.Build(t, "crashpoints"), filepath.Join(dir, "data"), e2e.FreeAddress(t), "HONGBAO_CLOCK_FILE="+clock,
		"HONGBAO_FILES=s3://"+bucket+"/prefix?endpoint="+s3.URL, "HONGBAO_FILES_KEY=access", "HONGBAO_FILES_SECRET=secret-of-the-store")
	token := s.Guest("uploader").Token
	var created wire.CreateRoomReply
	post(t, s, token, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}, &created)
	room := created.Room.ID
	texts := 0
	say := func(files ...string) (sent wire.SendReply) {
		t.Helper()
		texts++
		post(t, s, token, "send", wire.SendRequest{Room: room, Key: fmt.Sprint("text-", texts), Text: "hello", Files: files}, &sent)
		return sent
	}
	begin := func(n int) (f wire.FileState, content []byte) {
		t.Helper()
		content = bytes.Repeat(fmt.Appendf(nil, "%015d\n", n), 40_000) // three pieces
		post(t, s, token, "begin_file", wire.BeginFileRequest{Room: room, Kind: "file", Name: "numbers", Size: int64(len(content))}, &f)
		return f, content
	}
	resume := func(f wire.FileState, content []byte) {
		t.Helper()
		post(t, s, token, "file_state", wire.FileRequest{Room: room, File: f.File.ID}, &f)
		f, err := upload(s, token, room, f, content)
		e2e.NoError(t, err)
		say(f.File.ID)
		if got := download(t, s, token, room, f.File.ID); !bytes.Equal(got, content) {
			t.Errorf("%d bytes can be read of what was uploaded later, want %d", len(got), len(content))
		}
	}

	n, sentFiles := 0, 0
	for name, fault := range map[string]http.HandlerFunc{"refused": refused, "overloaded": overloaded, "cut": cut} {
		for _, put := range []int{2, 4} { // a piece, and the whole content
			n += 2
			f, content := begin(n)
			abandoned, others := begin(n + 1)
			for _, half := range []struct {
				f       wire.FileState
				content []byte
			}{{f, content}, {abandoned, others}} {
				s3.fails(http.MethodPut, put, fault)
				if _, err := upload(s, token, room, half.f, half.content); err == nil || !strings.Contains(err.Error(), `"unavailable`) {
					t.Errorf("%s at put %d: %v, want unavailable", name, put, err)
				}
				say()
				status, answer, err := s.Post(token, "commands/send", wire.SendRequest{Room: room, Key: "half-" + half.f.File.ID, Text: "half", Files: []string{half.f.File.ID}})
				if err != nil || status != http.StatusConflict {
					t.Errorf("%s at put %d: half a file is sent: %d, %s, %v", name, put, status, answer, err)
				}
				s3.heals()
			}
			resume(f, content)
			sentFiles++
		}
	}

	slow := make(chan struct{})
	var arrived sync.WaitGroup
	arrived.Add(1)
	once := sync.OnceFunc(arrived.Done)
	s3.fails(http.MethodPut, 1, func(w http.ResponseWriter, r *http.Request) {
		once()
		<-slow
		overloaded(w, r)
	})
	f, content := begin(n + 2)
	uploaded := make(chan error, 1)
	go func() {
		_, err := upload(s, token, room, f, content)
		uploaded <- err
	}()
	arrived.Wait()
	for range 20 {
		say() // while the store is slow
	}
	close(slow)
	if err := <-uploaded; err == nil || !strings.Contains(err.Error(), `"unavailable`) {
		t.Errorf("a slow upload: %v, want unavailable", err)
	}
	s3.heals()
	resume(f, content)
	sentFiles++

	s3.fails(http.MethodGet, 1, func(w http.ResponseWriter, r *http.Request) { s3.store.ServeHTTP(&halfWriter{w, 300_000}, r) })
	if _, got, err := s.Get(token, "files/"+room+"/"+f.File.ID+"/original"); err == nil {
		t.Errorf("a download that is cut ends well, with %d bytes", len(got))
	}
	s3.heals()
	forgotten := ""
	for _, name := range s3.objects(t) {
		if strings.Contains(name, f.File.ID+"/") {
			forgotten = name
		}
	}
	_, err := s3.kept.DeleteObject(bucket, forgotten)
	e2e.NoError(t, err)
	if status, answer, err := s.Get(token, "files/"+room+"/"+f.File.ID+"/original"); err != nil || status != http.StatusServiceUnavailable || !strings.Contains(string(answer), `"unavailable`) {
		t.Errorf("a forgotten object: %d, %s, %v", status, answer, err)
	}
	say()
	s.AwaitLog("object store "+s3.URL, 1) // one of the causes: the others came within the same second
	if strings.Contains(s.Log(), "secret-of-the-store") {
		t.Error("the log has the secret of the store")
	}
	var page wire.HistoryReply
	post(t, s, token, "history", wire.HistoryRequest{Room: room, Files: "file", Limit: 100}, &page)
	if len(page.Entries) != sentFiles {
		t.Errorf("%d texts have files, want %d", len(page.Entries), sentFiles)
	}
	s.Kill()

	for _, later := range []string{"25h", "26h"} { // the first drops what is not sent, the second removes it
		shift(later)
		again := s.Restart()
		files := filesOf(t, again)
		e2e.Eventually(t, time.Minute, "the sweep", func() bool {
			return later == "25h" && files("state in ('coming', 'held')") == 0 || later == "26h" && files("true") == sentFiles
		})
		again.Kill()
	}
	if left := s3.objects(t); len(left) != sentFiles-1 {
		t.Errorf("the store has %v, want the %d objects that were sent and not forgotten", left, sentFiles-1)
	}
}
