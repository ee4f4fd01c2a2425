//go:build unix

package sqlitestore

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc" // its type TLS is in the signature of every function of SQLite
	sqlite3 "modernc.org/sqlite/lib"
)

// TestCommitSurvivesPowerLoss loses, after each answered call, all bytes that were not synced to the disk. The database
// that is left must have the entry.
func TestCommitSurvivesPowerLoss(t *testing.T) {
	disk := watchDisk(t)
	s := openStore(t, disk.dir)
	createTestRoom(t, s)
	for n := range 20 {
		e, _, err := s.Append(t.Context(), text(n))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		disk.writeSynced(t, dir)
		left := openStore(t, dir)
		if got := lastSeq(t, left); got != e.Seq {
			t.Fatalf("entry %d was answered, and after a power loss the last entry is %d", e.Seq, got)
		}
		if err := left.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// watchedDisk holds the content of the files in a folder as of their last sync. That is what a power loss leaves.
// There is one, because SQLite calls functions that have no closure.
type watchedDisk struct {
	dir      string
	original uintptr // the VFS that does the work

	mu     sync.Mutex
	open   map[uintptr]watchedFile // guarded by mu; by sqlite3_file
	synced map[string][]byte       // guarded by mu; by file name
}

// watchedFile is an open file, with the sync function of the original VFS.
type watchedFile struct {
	path string
	sync uintptr
}

var watched *watchedDisk

// watchDisk makes SQLite use, until the test ends, a VFS that remembers what was synced of the files in a new folder.
func watchDisk(t *testing.T) *watchedDisk {
	t.Helper()
	tls := libc.NewTLS()
	original := sqlite3.Xsqlite3_vfs_find(tls, 0)
	watched = &watchedDisk{dir: t.TempDir(), original: original, open: map[uintptr]watchedFile{}, synced: map[string][]byte{}}
	vfs := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	*at[sqlite3.Tsqlite3_vfs](vfs) = *at[sqlite3.Tsqlite3_vfs](original)
	at[sqlite3.Tsqlite3_vfs](vfs).FxOpen = cPointer(openWatched)
	at[sqlite3.Tsqlite3_vfs](vfs).FxDelete = cPointer(deleteWatched)
	name, err := libc.CString("watched")
	if err != nil {
		t.Fatal(err)
	}
	at[sqlite3.Tsqlite3_vfs](vfs).FzName = name
	if code := sqlite3.Xsqlite3_vfs_register(tls, vfs, 1); code != sqlite3.SQLITE_OK {
		t.Fatalf("register VFS: code %d", code)
	}
	t.Cleanup(func() {
		sqlite3.Xsqlite3_vfs_unregister(tls, vfs)
		sqlite3.Xsqlite3_vfs_register(tls, original, 1)
		tls.Close()
	})
	return watched
}

// writeSynced writes the files as a power loss would leave them.
func (d *watchedDisk) writeSynced(t *testing.T, dir string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, content := range d.synced {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// openWatched is the VFS's xOpen. It makes SQLite call syncWatched for files of the folder.
func openWatched(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	d := watched
	xOpen := at[sqlite3.Tsqlite3_vfs](d.original).FxOpen
	code := goFunc[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](xOpen)(tls, d.original, name, file, flags, out)
	if code != sqlite3.SQLITE_OK || name == 0 {
		return code
	}
	path := libc.GoString(name)
	if filepath.Dir(path) != d.dir {
		return code
	}
	of := at[sqlite3.Tsqlite3_file](file)
	methods := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	*at[sqlite3.Tsqlite3_io_methods](methods) = *at[sqlite3.Tsqlite3_io_methods](of.FpMethods)
	d.mu.Lock()
	d.open[file] = watchedFile{path, at[sqlite3.Tsqlite3_io_methods](methods).FxSync}
	d.mu.Unlock()
	at[sqlite3.Tsqlite3_io_methods](methods).FxSync = cPointer(syncWatched)
	of.FpMethods = methods
	return code
}

// deleteWatched is the VFS's xDelete. A deletion counts as synced: a file system with a journal writes it to the disk before
// the sync that follows.
func deleteWatched(tls *libc.TLS, _, name uintptr, syncFolder int32) int32 {
	d := watched
	d.mu.Lock()
	defer d.mu.Unlock()
	xDelete := at[sqlite3.Tsqlite3_vfs](d.original).FxDelete
	code := goFunc[func(*libc.TLS, uintptr, uintptr, int32) int32](xDelete)(tls, d.original, name, syncFolder)
	if path := libc.GoString(name); code == sqlite3.SQLITE_OK && filepath.Dir(path) == d.dir {
		delete(d.synced, filepath.Base(path))
	}
	return code
}

// syncWatched is the xSync of a watched file.
func syncWatched(tls *libc.TLS, file uintptr, flags int32) int32 {
	d := watched
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.open[file]
	content, err := os.ReadFile(f.path) // before the sync: later bytes need not be on the disk
	if err != nil {
		return sqlite3.SQLITE_IOERR
	}
	code := goFunc[func(*libc.TLS, uintptr, int32) int32](f.sync)(tls, file, flags)
	if code == sqlite3.SQLITE_OK {
		d.synced[filepath.Base(f.path)] = content
	}
	return code
}

// at returns the value at an address in the memory of SQLite.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// goFunc returns the function at an address of SQLite, as the driver's own code calls it.
func goFunc[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{address})) }

// cPointer returns the address by which SQLite calls a function that is declared, not a closure.
func cPointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }
