package objects

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
)

// abandonedAfter is the age from which on an unfinished object belongs to a process that was killed.
const abandonedAfter = 24 * time.Hour

// Folder stores objects as files on disk. Several processes may share it. The object room1/file1 is the file b5/room1/file1. The first directory is
// the first byte of the SHA-256 of "room1": so none gets millions of entries, even if all names begin with the same characters.
type Folder struct {
	root       string
	unfinished string       // the directory with the files that Put is writing
	swept      atomic.Int64 // when abandoned files were last looked for, in nanoseconds since 1970

	mu     sync.Mutex
	walked []string // guarded by mu; the folders that the last walk through all of them has found; nil after its last page, which is empty
}

var _ files.Objects = (*Folder)(nil)

// OpenFolder creates the folder if it is not there, and removes what killed processes have left in it.
func OpenFolder(path string) (*Folder, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the folder of files %q: %w", path, err)
	}
	f := &Folder{root: root, unfinished: filepath.Join(root, "unfinished")}
	if err := os.MkdirAll(f.unfinished, 0o700); err != nil {
		return nil, f.failed("open it", err)
	}
	f.sweep(time.Now())
	return f, nil
}

// sweep removes abandoned files, at most once a day. What cannot be removed stays for the next time.
func (f *Folder) sweep(now time.Time) {
	last := f.swept.Load()
	if now.UnixNano()-last < int64(abandonedAfter) || !f.swept.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	entries, _ := os.ReadDir(f.unfinished)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(f.unfinished, e.Name()))
		}
	}
}

// Put implements files.Objects.
func (f *Folder) Put(ctx context.Context, name string, data io.Reader, size int64) (err error) {
	folder, file, err := split(name)
	if err != nil {
		return err
	}
	source, err := newExact(ctx, data, size)
	if err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	f.sweep(time.Now())
	temp, err := os.CreateTemp(f.unfinished, "*") // mode 0600
	if err != nil {
		return f.failed("store "+name, err)
	}
	err = fill(temp, source)
	if err == nil {
		err = f.place(temp.Name(), folder, file)
	}
	if err == nil {
		return nil
	}
	_ = os.Remove(temp.Name())
	if caused := source.stop(); caused != nil {
		return fmt.Errorf("store %s: %w", name, caused)
	}
	return f.failed("store "+name, err)
}

// fill writes the data to the file, makes it durable and closes the file.
func fill(file *os.File, data io.Reader) error {
	_, err := io.Copy(file, data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// place gives a complete file the name of its object, and makes the name durable. A Delete may remove the directory after it was made. Then place
// makes it again.
func (f *Folder) place(temp, folder, file string) error {
	dir := f.dir(folder)
	var err error
	for range 100 {
		if err = os.MkdirAll(dir, 0o700); errors.Is(err, fs.ErrExist) {
			continue // the directory was there, and removed before MkdirAll looked at it
		}
		if err != nil {
			return err
		}
		if err = os.Rename(temp, filepath.Join(dir, file)); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := syncFolder(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // a Delete may have removed both already
		return err
	}
	return errors.Join(syncFolder(filepath.Dir(dir)), syncFolder(f.root))
}

// dir returns the directory with the objects of a folder.
func (f *Folder) dir(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(f.root, hex.EncodeToString(sum[:1]), folder)
}

// Get implements files.Objects. The content is an *os.File, which io.Copy can send to a socket without reading it.
func (f *Folder) Get(ctx context.Context, name string, offset int64) (io.ReadCloser, int64, error) {
	folder, file, err := split(name)
	if err != nil {
		return nil, 0, err
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, f.failed("read "+name, err)
	}
	content, err := os.Open(filepath.Join(f.dir(folder), file))
	if err != nil {
		return nil, 0, f.failed("read "+name, f.absent(err))
	}
	size, err := seek(content, offset)
	if err != nil {
		return nil, 0, f.failed("read "+name, errors.Join(err, content.Close()))
	}
	return content, size, nil
}

func seek(file *os.File, offset int64) (size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	_, err = file.Seek(offset, io.SeekStart)
	return info.Size(), err
}

// absent returns chat.ErrNotFound for the error that a file is not there. It returns the error itself if the whole folder is not there either,
// because its disk may not be mounted.
func (f *Folder) absent(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(f.unfinished); err != nil {
		return err
	}
	return chat.ErrNotFound
}

// Delete implements files.Objects. It removes directories that get empty.
func (f *Folder) Delete(ctx context.Context, names ...string) error {
	changed := map[string]bool{}
	for _, name := range names {
		folder, file, err := split(name)
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return f.failed("remove "+name, err)
		}
		err = os.Remove(filepath.Join(f.dir(folder), file))
		if err == nil {
			changed[f.dir(folder)] = true
		} else if err := f.absent(err); !errors.Is(err, chat.ErrNotFound) {
			return f.failed("remove "+name, err)
		}
	}
	for dir := range changed {
		// Without the sync, a power failure could bring back an object that no row knows.
		if err := syncFolder(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.failed("remove files", err)
		}
		_ = os.Remove(dir) // fails if it is not empty
	}
	return nil
}

// List implements files.Objects. It reads the names of one folder at a time. Without a folder, it also holds the names of all folders in memory, from the
// first page of a walk to the last one.
func (f *Folder) List(ctx context.Context, folder, after string, limit int) (found []files.Object, err error) {
	if err := checkRange(folder, after); err != nil {
		return nil, err
	}
	folders := []string{folder}
	if folder == "" {
		folders, err = f.walk(after)
	}
	for _, folder := range folders {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, f.failed("list files", err)
		}
		if len(found) >= limit {
			return found, nil
		}
		found, err = f.list(found, folder, after, limit)
	}
	if err != nil {
		return nil, f.failed("list files", err)
	}
	if folder == "" && len(found) == 0 {
		f.keep(nil)
	}
	return found, nil
}

// walk returns the folders that may have objects after the given name. It reads the names of all folders for the first page of a walk only.
func (f *Folder) walk(after string) ([]string, error) {
	f.mu.Lock()
	folders := f.walked
	f.mu.Unlock()
	if after == "" || folders == nil {
		var err error
		if folders, err = f.folders(); err != nil {
			return nil, err
		}
		f.keep(folders)
	}
	return folders[sort.Search(len(folders), func(i int) bool { return !before(folders[i], after) }):], nil
}

func (f *Folder) keep(folders []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.walked = folders
}

// before reports whether all objects of the folder stand before the name, or have it: '0' is the character after '/'.
func before(folder, name string) bool { return folder+"0" <= name }

// folders returns all folders in the order of the names of their objects: "a-b/c" stands before "a/b".
func (f *Folder) folders() (folders []string, err error) {
	for first := range 256 {
		entries, err := f.read(filepath.Join(f.root, fmt.Sprintf("%02x", first)))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			folders = append(folders, e.Name())
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(a+"/", b+"/") })
	return folders, nil
}

// list appends the objects of a folder to those that were found, up to the limit.
func (f *Folder) list(found []files.Object, folder, after string, limit int) ([]files.Object, error) {
	if before(folder, after) {
		return found, nil
	}
	entries, err := f.read(f.dir(folder))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := folder + "/" + e.Name()
		if name <= after || len(found) >= limit {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, files.Object{Name: name, Size: info.Size(), At: info.ModTime()})
	}
	return found, nil
}

// read returns the entries of a directory in the order of their names. A directory that is not there has none.
func (f *Folder) read(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err == nil {
		return entries, nil
	}
	if err = f.absent(err); errors.Is(err, chat.ErrNotFound) {
		return nil, nil
	}
	return nil, err
}

// Link implements files.Objects. A folder gives out no addresses.
func (f *Folder) Link(_ context.Context, name string, _ files.Headers, _ time.Duration) (string, error) {
	_, _, err := split(name)
	return "", err
}

// failed says what to do about an error of the disk, and wraps it with chat.ErrUnavailable. It lets chat.ErrNotFound pass.
func (f *Folder) failed(doing string, err error) error {
	var advice string
	switch {
	case errors.Is(err, chat.ErrNotFound):
		return fmt.Errorf("%s: %w", doing, chat.ErrNotFound)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = ": the disk is full: free space on it, or enlarge it"
	case errors.Is(err, fs.ErrPermission):
		advice = ": give the user of this process the right to read and write the folder"
	case errors.Is(err, fs.ErrNotExist):
		advice = ": the folder has gone: mount its disk, or restart to begin with an empty one"
	}
	return fmt.Errorf("folder of files %s: %s: %w: %w%s", f.root, doing, chat.ErrUnavailable, err, advice)
}

// syncFolder makes the names in a directory durable. Windows cannot do that, and does not need it.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
