package crash

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/enginetest"
	"hongbao/web/wire"

	_ "modernc.org/sqlite" // sees what is left in the database
)

// TestFileCrashPoints lets the program kill itself at each step of an upload and of a removal. After a restart the upload goes on and the file is whole. A
// day later nothing is left of it, because it was not sent.
func TestFileCrashPoints(t *testing.T) {
	t.Parallel()
	points := []string{"file.after-piece", "file.after-finish"}
	if enginetest.Tonight("crash") {
		points = crashpoint.FilePoints
	}
	binary := e2e.Build(t, "crashpoints")
	for _, point := range points {
		t.Run(point, func(t *testing.T) { uploadCrashAt(t, binary, point) })
	}
}

func uploadCrashAt(t *testing.T, binary, point string) {
	dir := t.TempDir()
	clock := filepath.Join(dir, "clock")
	shift := func(by string) { e2e.NoError(t, os.WriteFile(clock, []byte(by), 0o600)) }
	shift("0s")
	crashing := []string{"HONGBAO_CRASH_AT=" + point, "HONGBAO_CLOCK_FILE=" + clock}
	first := e2e.Start(t, binary, filepath.Join(dir, "data"), e2e.FreeAddress(t), "HONGBAO_CLOCK_FILE="+clock)
	token := first.Guest("uploader").Token
	var room wire.CreateRoomReply
	post(t, first, token, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}, &room)
	content := bytes.Repeat([]byte("0123456789abcdef"), 40_000) // three pieces
	var f wire.FileState
	post(t, first, token, "begin_file", wire.BeginFileRequest{Room: room.Room.ID, Kind: "file", Name: "numbers", Size: int64(len(content))}, &f)
	first.Kill()

	dying := first.RestartWith(crashing...)
	_, err := upload(dying, token, room.Room.ID, f, content)
	if point == "file.before-forget" {
		e2e.NoError(t, err)
		dying.Kill()
	} else {
		mustHaveDied(t, dying, point)
	}
	again := first.Restart()
	post(t, again, token, "file_state", wire.FileRequest{Room: room.Room.ID, File: f.File.ID}, &f)
	if f.State != "ready" {
		f, err = upload(again, token, room.Room.ID, f, content)
		e2e.NoError(t, err)
	}
	if got := download(t, again, token, room.Room.ID, f.File.ID); !bytes.Equal(got, content) {
		t.Errorf("%d bytes are there, want the %d of the upload", len(got), len(content))
	}
	again.Kill()

	shift("25h")
	dropping := first.Restart()
	files := filesOf(t, dropping)
	e2e.Eventually(t, time.Minute, "the drop", func() bool { return files("state <> 'dropped'") == 0 })
	dropping.Kill()
	shift("26h")
	if point == "file.before-forget" {
		mustHaveDied(t, first.RestartWith(crashing...), point)
	}
	removing := first.Restart()
	files = filesOf(t, removing)
	e2e.Eventually(t, time.Minute, "the removal", func() bool { return files("true") == 0 })
	if left := objectsIn(t, filepath.Join(dir, "data", "files")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func mustHaveDied(t *testing.T, s *e2e.Server, point string) {
	t.Helper()
	select {
	case <-s.Exited():
	case <-time.After(e2e.Limit(30 * time.Second)):
	}
	if !s.KilledItself() {
		t.Fatalf("the server should have killed itself at %s, and ended otherwise", point)
	}
}

// filesOf returns a function that counts the rows of files in the server's database.
func filesOf(t *testing.T, s *e2e.Server) func(where string) (n int) {
	t.Helper()
	count := countIn(t, s)
	return func(where string) int { return count("files where " + where) }
}

// countIn returns a function that counts rows in the server's database. It returns -1 while the database cannot be read.
func countIn(t *testing.T, s *e2e.Server) func(from string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.Dir, "hongbao.db")+"?mode=ro")
	e2e.NoError(t, err)
	t.Cleanup(func() { e2e.NoError(t, db.Close()) })
	return func(from string) (n int) {
		if err := db.QueryRowContext(t.Context(), "select count(*) from "+from).Scan(&n); err != nil {
			return -1
		}
		return n
	}
}

// post calls a command that must succeed.
func post(t *testing.T, s *e2e.Server, token, method string, request, reply any) {
	t.Helper()
	status, answer, err := s.Post(token, "commands/"+method, request)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s: status %d: %s", method, status, answer)
	}
	if err == nil {
		err = json.Unmarshal(answer, reply)
	}
	e2e.NoError(t, err)
}

func upload(s *e2e.Server, token, room string, f wire.FileState, content []byte) (wire.FileState, error) {
	path := fmt.Sprintf("%s/v1/files/%s/%s?offset=%d", strings.TrimSuffix(s.URL.String(), "/"), room, f.File.ID, f.Received)
	request, err := http.NewRequest(http.MethodPost, path, bytes.NewReader(content[f.Received:]))
	if err != nil {
		return f, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return f, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("upload: status %d: %s", answer.StatusCode, text)
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	return f, err
}

func download(t *testing.T, s *e2e.Server, token, room, file string) []byte {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(s.URL.String(), "/")+"/v1/files/"+room+"/"+file+"/original", http.NoBody)
	e2e.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	e2e.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	e2e.NoError(t, err)
	return content
}

// objectsIn lists the objects in the folder.
func objectsIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	e2e.NoError(t, filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(name, "unfinished") {
			names = append(names, name)
		}
		return err
	}))
	return names
}
