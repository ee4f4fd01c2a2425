package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/store"
	"hongbao/store/finding"
	"hongbao/store/storetest"
)

// s3 is an S3 store in memory. While refuse is set, it decides which requests are refused.
type s3 struct {
	*httptest.Server
	refuse atomic.Pointer[func(r *http.Request) bool]
	puts   atomic.Int64
}

func newS3(t *testing.T) *s3 {
	t.Helper()
	unit := minio.DefaultRetryUnit
	minio.DefaultRetryUnit = time.Millisecond // between tries
	t.Cleanup(func() { minio.DefaultRetryUnit = unit })
	kept := s3mem.New()
	noError(t, kept.CreateBucket("files"))
	handler := gofakes3.New(kept, gofakes3.WithTimeSkewLimit(0)).Server()
	s := &s3{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse := s.refuse.Load(); refuse != nil && (*refuse)(r) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `<Error><Code>AccessDenied</Code><Message>no</Message></Error>`)
			return
		}
		if r.Method == http.MethodPut {
			s.puts.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *s3) refuses(which func(r *http.Request) bool) { s.refuse.Store(&which) }

// environ returns the settings that name the store.
func (s *s3) environ() []string {
	return []string{"HONGBAO_FILES=s3://files/prefix?endpoint=" + s.URL, "HONGBAO_FILES_KEY=access", "HONGBAO_FILES_SECRET=secret-of-the-store"}
}

func TestDoctorExaminesTheStoreOfFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	mustPrint(t, 0, "up to date", "migrate", "--data-dir", dir)
	s := newS3(t)
	settings := append(s.environ(), "HONGBAO_DATA_DIR="+dir)
	found := doctor(t, settings...)
	wantAllOK(t, found)
	wantFinding(t, found, finding.OK, "the store of HONGBAO_FILES answers")
	if n := s.puts.Load(); n != 0 {
		t.Errorf("doctor has stored %d objects", n)
	}
	s.refuses(func(*http.Request) bool { return true })
	refused := doctor(t, settings...)
	wantFinding(t, refused, finding.Fail, "correct HONGBAO_FILES")
	wantFinding(t, refused, finding.Fail, "AccessDenied")
	s.Close()
	unreachable := doctor(t, settings...)
	wantFinding(t, unreachable, finding.Fail, "refused")
	for _, f := range append(refused, unreachable...) {
		if strings.Contains(f.Text+f.Do, "secret-of-the-store") {
			t.Errorf("the finding has the secret: %+v", f)
		}
	}
	wantFinding(t, doctor(t, "HONGBAO_DATA_DIR="+dir, "HONGBAO_FILES=s3://files?endpoint=x&region=a&region=b"), finding.Fail, "correct HONGBAO_FILES")
}

// TestCopyOfFilesGoesOn copies a folder with files to Postgres and S3. The first copy breaks off in the middle of the files, and must leave the database
// empty. The second one must go on, and the audit must find each file with its text.
func TestCopyOfFilesGoesOn(t *testing.T) {
	database, s := newDatabase(t, storetest.Postgres(t)), newS3(t)
	dir := filepath.Join(t.TempDir(), "data")
	const count = 5
	sendFilesInto(t, dir, count)
	settings := append(s.environ(), "HONGBAO_DATA_DIR="+dir, "HONGBAO_DATABASE_URL="+database, "HONGBAO_MIGRATE=auto")

	s.refuses(func(r *http.Request) bool { return r.Method == http.MethodPut && s.puts.Load() == 3 }) // one of the check, two of files
	code, out, stderr := call(t, "", settings, "copy")
	if code != 1 || !strings.Contains(stderr, "AccessDenied") || strings.Contains(out, "copied") {
		t.Fatalf("the copy that breaks off: exit code %d\n%s%s", code, out, stderr)
	}
	s.refuse.Store(nil)
	s.puts.Store(0)
	code, out, stderr = call(t, "", settings, "copy")
	if code != 0 || !strings.Contains(out, fmt.Sprintf("copied: %d objects of files", count)) {
		t.Fatalf("the copy that goes on: exit code %d\n%s%s", code, out, stderr)
	}
	if n := s.puts.Load(); n != 1+count-2 { // one of the check
		t.Errorf("the second copy has stored %d objects, want only the check and the %d that were missing", n, count-2)
	}
	code, out, stderr = call(t, "", settings, "audit", "--with-files", "content")
	if want := fmt.Sprintf("with %d objects", count); code != 0 || !strings.Contains(out, want) || !strings.Contains(out, fmt.Sprintf("in %d texts", count)) {
		t.Errorf("the audit of the copy: exit code %d, want %q\n%s%s", code, want, out, stderr)
	}
}

// sendFilesInto makes a data folder with texts, each with a file.
func sendFilesInto(t *testing.T, dir string, count int) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	engines, err := store.Open(t.Context(), store.Config{DataDir: dir}, log)
	noError(t, err)
	made, err := wireUp(t.Context(), config{
		DataDir: dir, Guests: guestsOff, JWTSecret: strings.Repeat("s", 32), FileBytes: 1 << 20,
		MaxPacketTotal: 1000, MaxPacketCount: 10, Currency: currency{Code: "CNY", Exponent: 2},
	}, "node", engines, log)
	noError(t, err)
	ann := chat.User{ID: "ann"}
	room, _, err := made.rooms.CreateRoom(t.Context(), ann, chat.CreateRoom{Name: "room", Kind: chat.Private, Key: "room"})
	noError(t, err)
	for n := range count {
		content := bytes.Repeat([]byte{byte(n)}, 1000+n)
		f, err := made.files.Begin(t.Context(), ann, files.Upload{Room: room.Room.ID, Kind: chat.OtherFile, Name: "file", Size: int64(len(content))})
		noError(t, err)
		_, err = made.files.Receive(t.Context(), files.Transfer{User: ann, Room: room.Room.ID, File: f.ID, Content: bytes.NewReader(content), More: func() {}})
		noError(t, err)
		_, err = made.rooms.Send(t.Context(), ann, chat.Message{Room: room.Room.ID, Key: fmt.Sprint("k", n), Files: []string{f.ID}})
		noError(t, err)
	}
	noError(t, engines.Close())
}
