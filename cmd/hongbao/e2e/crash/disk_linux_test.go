package crash

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// TestFullDiskOfFiles fills the disk of the folder of files in a running server. An upload must be told, chat and downloads must go on, and the upload must
// go on when there is space again. A day later nothing is left of what broke off.
func TestFullDiskOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk, clock := smallDisk(t), filepath.Join(dir, "clock")
	shift := func(by string) { e2e.NoError(t, os.WriteFile(clock, []byte(by), 0o600)) }
	shift("0s")
	s := e2e.Start(t, e2e.Build(t, "crashpoints"), filepath.Join(dir, "data"), e2e.FreeAddress(t), "HONGBAO_CLOCK_FILE="+clock, "HONGBAO_FILES="+filepath.Join(disk, "files"))
	token := s.Guest("uploader").Token
	var room wire.CreateRoomReply
	post(t, s, token, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}, &room)
	begin := func(content []byte) (f wire.FileState) {
		t.Helper()
		post(t, s, token, "begin_file", wire.BeginFileRequest{Room: room.Room.ID, Kind: "file", Name: "numbers", Size: int64(len(content))}, &f)
		return f
	}
	content := bytes.Repeat([]byte("0123456789abcdef"), 40_000) // three pieces
	other := bytes.Repeat([]byte("fedcba9876543210"), 40_000)
	whole, err := upload(s, token, room.Room.ID, begin(content), content)
	e2e.NoError(t, err)

	filler := filepath.Join(disk, "filler")
	fill(t, disk, filler, 400<<10) // one piece fits
	f, abandoned := begin(other), begin(other)
	for _, full := range []wire.FileState{f, abandoned} {
		if _, err := upload(s, token, room.Room.ID, full, other); err == nil || !strings.Contains(err.Error(), `"unavailable`) {
			t.Errorf("an upload to a full disk: %v, want unavailable", err)
		}
	}
	s.AwaitLog("no space left on device", 1)
	if !s.HasMetric(`hongbao_object_failures_total{operation="put"} 2`) {
		t.Error("the metrics do not have the two failures of the store")
	}
	var sent wire.SendReply
	post(t, s, token, "send", wire.SendRequest{Room: room.Room.ID, Key: "text", Text: "hello"}, &sent)
	post(t, s, token, "send", wire.SendRequest{Room: room.Room.ID, Key: "file", Files: []string{whole.File.ID}}, &sent)
	if got := download(t, s, token, room.Room.ID, whole.File.ID); !bytes.Equal(got, content) {
		t.Errorf("%d bytes of the file of before can be read, want %d", len(got), len(content))
	}

	e2e.NoError(t, os.Remove(filler))
	post(t, s, token, "file_state", wire.FileRequest{Room: room.Room.ID, File: f.File.ID}, &f)
	if f.State != "coming" || f.Received != 256<<10 {
		t.Errorf("the upload is %s with %d bytes, want one piece", f.State, f.Received)
	}
	f, err = upload(s, token, room.Room.ID, f, other)
	e2e.NoError(t, err)
	post(t, s, token, "send", wire.SendRequest{Room: room.Room.ID, Key: "other", Files: []string{f.File.ID}}, &sent)
	if got := download(t, s, token, room.Room.ID, f.File.ID); !bytes.Equal(got, other) {
		t.Errorf("%d bytes can be read of what was uploaded later, want %d", len(got), len(other))
	}
	s.Kill()

	for _, later := range []string{"25h", "26h"} { // the first drops what is not sent, the second removes it
		shift(later)
		again := s.Restart()
		files := filesOf(t, again)
		e2e.Eventually(t, time.Minute, "the sweep", func() bool {
			return later == "25h" && files("state = 'dropped'") == 1 || later == "26h" && files("true") == 2
		})
		again.Kill()
	}
	if left := objectsIn(t, filepath.Join(disk, "files")); len(left) != 2 {
		t.Errorf("the store has %v, want the two files that were sent", left)
	}
	if left, err := os.ReadDir(filepath.Join(disk, "files", "unfinished")); err != nil || len(left) > 0 {
		t.Errorf("unfinished objects: %v, %v", left, err)
	}
}

// smallDisk returns a folder on a file system of 3 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { e2e.NoError(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	return disk
}

// fill writes a file that leaves about so many bytes of the disk.
func fill(t *testing.T, disk, file string, leave uint64) {
	t.Helper()
	var s syscall.Statfs_t
	e2e.NoError(t, syscall.Statfs(disk, &s))
	e2e.NoError(t, os.WriteFile(file, make([]byte, s.Bavail*uint64(s.Bsize)-leave), 0o600))
}
