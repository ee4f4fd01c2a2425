package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
)

// TestObjects checks that a store keeps the contract of files.Objects.
func TestObjects(t *testing.T, open func(t *testing.T) files.Objects) {
	for _, test := range []struct {
		name string
		run  func(b *objectsBench)
	}{
		{"an object is stored, read and replaced", objectsStored},
		{"an object is read from an offset on", objectsRange},
		{"an absent object is not found, and may be removed", objectsAbsent},
		{"data that is not as announced is not stored", objectsBroken},
		{"a call whose context has ended fails", objectsEnded},
		{"objects are listed in order, page by page", objectsListed},
		{"a bad name is refused", objectsBadNames},
		{"a reader sees one of two objects whole", objectsConcurrent},
		{"objects come and go in one folder", objectsComeAndGo},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(&objectsBench{Objects: open(t), T: t})
		})
	}
}

// objectsBench holds a store under test. Its helpers fail the test if the store fails.
type objectsBench struct {
	files.Objects
	*testing.T
}

func (b *objectsBench) put(name, content string) {
	b.Helper()
	// The reader is nothing but a reader: a store must not depend on more.
	noError(b, b.Put(b.Context(), name, io.MultiReader(strings.NewReader(content)), int64(len(content))))
}

// has checks the content of an object. Empty means that there must be no object.
func (b *objectsBench) has(name, want string) {
	b.Helper()
	content, size, err := b.Get(b.Context(), name, 0)
	if want == "" {
		if !errors.Is(err, chat.ErrNotFound) || errors.Is(err, chat.ErrUnavailable) {
			b.Fatalf("get of the absent %s: %v, want %v", name, err, chat.ErrNotFound)
		}
		return
	}
	noError(b, err)
	if got := b.all(content); got != want || size != int64(len(want)) {
		b.Fatalf("%s has %d bytes and the size %d, want %d other bytes", name, len(got), size, len(want))
	}
}

func (b *objectsBench) all(content io.ReadCloser) string {
	b.Helper()
	got, err := io.ReadAll(content)
	noError(b, errors.Join(err, content.Close()))
	return string(got)
}

func (b *objectsBench) lists(folder, after string, limit int, want ...string) {
	b.Helper()
	objects, err := b.List(b.Context(), folder, after, limit)
	noError(b, err)
	var got []string
	for _, o := range objects {
		got = append(got, o.Name)
	}
	if !slices.Equal(got, want) {
		b.Errorf("list of %q after %q, at most %d: %q, want %q", folder, after, limit, got, want)
	}
}

func (b *objectsBench) unavailable(doing string, err error) {
	b.Helper()
	if !errors.Is(err, chat.ErrUnavailable) || errors.Is(err, chat.ErrNotFound) {
		b.Errorf("%s: %v, want %v", doing, err, chat.ErrUnavailable)
	}
}

// largeContent has several buffers of any store.
var largeContent = strings.Repeat("0123456789abcdef", 200_000)

func objectsStored(b *objectsBench) {
	b.put("room/file", "one")
	b.has("room/file", "one")
	b.put("room/file", largeContent)
	b.has("room/file", largeContent)
	b.put("room/file", "three")
	b.has("room/file", "three")
	b.put("room/other", "other")
	b.has("room/file", "three")

	b.put("room/empty", "")
	content, size, err := b.Get(b.Context(), "room/empty", 0)
	noError(b, err)
	if got := b.all(content); got != "" || size != 0 {
		b.Errorf("an empty object has %d bytes and the size %d", len(got), size)
	}
	b.lists("", "", 10, "room/empty", "room/file", "room/other")
}

func objectsRange(b *objectsBench) {
	const whole = "0123456789"
	b.put("room/file", whole)
	for offset, want := range map[int64]string{0: whole, 1: whole[1:], 9: "9", 10: "", 11: "", 1 << 40: ""} {
		content, size, err := b.Get(b.Context(), "room/file", offset)
		noError(b, err)
		if got := b.all(content); got != want || size != int64(len(whole)) {
			b.Errorf("from %d on: %q and the size %d, want %q", offset, got, size, want)
		}
	}
	_, _, err := b.Get(b.Context(), "room/file", -1)
	b.unavailable("get from a negative offset on", err)
}

func objectsAbsent(b *objectsBench) {
	b.has("room/file", "")
	noError(b, b.Delete(b.Context()))
	noError(b, b.Delete(b.Context(), "room/file"))
	b.put("room/file", "one")
	b.put("room/other", "other")
	noError(b, b.Delete(b.Context(), "room/file"))
	noError(b, b.Delete(b.Context(), "room/file"))
	b.has("room/file", "")
	b.has("room/other", "other")
	b.put("room/file", "again")
	b.put("hall/file", "third")
	noError(b, b.Delete(b.Context(), "room/file", "room/absent", "hall/absent", "hall/file", "other/absent"))
	b.lists("", "", 10, "room/other")
}

func objectsBroken(b *objectsBench) {
	broken := errors.New("the connection broke")
	for _, kept := range []string{"", "kept"} { // what the name had before
		if kept != "" {
			b.put("room/file", kept)
		}
		for _, test := range []struct {
			name string
			data io.Reader
			size int
			also error
		}{
			{"no data", strings.NewReader(""), 3, nil},
			{"short data", strings.NewReader("ab"), 3, nil},
			{"long data", strings.NewReader("abcd"), 3, nil},
			{"long data, byte by byte", iotest.OneByteReader(strings.NewReader("abcd")), 3, nil},
			{"data where none was announced", strings.NewReader("a"), 0, nil},
			{"short large data", strings.NewReader(largeContent[1:]), len(largeContent), nil},
			{"long large data", strings.NewReader(largeContent + "x"), len(largeContent), nil},
			{"failing data", iotest.ErrReader(broken), 3, broken},
			{"data that fails half-way", io.MultiReader(strings.NewReader(largeContent[:1_000_000]), iotest.ErrReader(broken)), len(largeContent), broken},
			{"data that fails at its end", io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), 3, broken},
			{"a failure with the last byte", iotest.DataErrReader(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken))), 3, broken},
		} {
			err := b.Put(b.Context(), "room/file", test.data, int64(test.size))
			if !errors.Is(err, files.ErrData) || errors.Is(err, chat.ErrUnavailable) || test.also != nil && !errors.Is(err, test.also) {
				b.Errorf("%s: %v, want %v", test.name, err, files.ErrData)
			}
			b.has("room/file", kept)
		}
	}
	b.unavailable("put of a negative size", b.Put(b.Context(), "room/file", strings.NewReader(""), -1))
	b.has("room/file", "kept")
	noError(b, b.Put(b.Context(), "room/file", iotest.DataErrReader(strings.NewReader("new")), 3))
	b.has("room/file", "new")
}

// endingReader ends a context after some bytes.
type endingReader struct {
	io.Reader
	end func()
}

func (r endingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		r.end()
		return n, nil
	}
	return n, err
}

func objectsEnded(b *objectsBench) {
	b.put("room/kept", "kept")
	ctx, end := context.WithCancel(b.Context())
	data := endingReader{strings.NewReader(largeContent[:1_000_000]), end}
	err := b.Put(ctx, "room/file", data, int64(len(largeContent)))
	if !errors.Is(err, context.Canceled) {
		b.Errorf("put whose context ends half-way: %v", err)
	}
	b.unavailable("put whose context ends half-way", err)
	b.unavailable("put", b.Put(ctx, "room/file", strings.NewReader("x"), 1))
	_, _, err = b.Get(ctx, "room/kept", 0)
	b.unavailable("get", err)
	b.unavailable("delete", b.Delete(ctx, "room/kept"))
	b.unavailable("delete of two", b.Delete(ctx, "room/kept", "room/other"))
	_, err = b.List(ctx, "", "", 10)
	b.unavailable("list", err)
	b.has("room/file", "")
	b.has("room/kept", "kept")
	b.lists("", "", 10, "room/kept")
}

func objectsListed(b *objectsBench) {
	b.lists("", "", 10)
	b.lists("a", "", 10)
	// In the order of bytes, '-' and '.' stand before '/', and digits and letters after it.
	all := []string{"a-b/x", "a.b/x", "a/-", "a/1", "a/10", "a/2", "a/b", "a0/x", "ab/x", "b/1"}
	for _, i := range []int{7, 1, 9, 0, 4, 2, 8, 3, 6, 5} {
		b.put(all[i], all[i])
	}
	b.lists("", "", 10, all...)
	b.lists("", "", 100, all...)
	for limit := range 4 {
		after := ""
		for i := 0; limit > 0 && i <= len(all); i += limit {
			b.lists("", after, limit, all[i:min(i+limit, len(all))]...)
			after = all[min(i+limit, len(all))-1]
		}
	}
	b.lists("", "", 0)
	b.lists("a", "", 0)
	b.lists("a", "", 10, all[2:7]...)
	b.lists("a", "a/1", 2, all[4:6]...)
	b.lists("a", "a/11", 10, all[5:7]...)
	b.lists("a", "a-b/x", 2, all[2:4]...) // stands before the folder
	b.lists("a", "a0/x", 10)              // stands after it
	b.lists("a", "a/b", 10)
	b.lists("absent", "", 10)
	b.lists("", "a/11", 2, all[5:7]...)
	b.lists("", "b/1", 10)

	before := time.Now().Add(-time.Hour)
	objects, err := b.List(b.Context(), "a", "a/1", 1)
	noError(b, err)
	if o := objects[0]; o.Size != int64(len("a/10")) || o.At.Before(before) || o.At.After(before.Add(2*time.Hour)) {
		b.Errorf("the object is listed with %d bytes, stored at %v", o.Size, o.At)
	}
}

func objectsBadNames(b *objectsBench) {
	part := strings.Repeat("a", 100)
	for _, name := range []string{
		"", "/", "a", "a/", "/a", "a/b/c", "a//b", "../a", "a/..", "a/../b", ".a/b", "a/.b", "./a", "A/b", "a/B", "a b/c", "a/b\n", "a/b\x00", "a\\b/c",
		"ä/b", "a/界", "a%2f/b", "a_b/c", part + "a/b", "a/a" + part,
	} {
		b.unavailable("put "+name, b.Put(b.Context(), name, strings.NewReader("x"), 1))
		_, _, err := b.Get(b.Context(), name, 0)
		b.unavailable("get "+name, err)
		b.unavailable("delete "+name, b.Delete(b.Context(), name))
		b.unavailable("delete good/name, "+name, b.Delete(b.Context(), "good/name", name))
		_, err = b.Link(b.Context(), name, files.Headers{}, time.Minute)
		b.unavailable("link "+name, err)
		if name != "" {
			_, err = b.List(b.Context(), "", name, 1)
			b.unavailable("list after "+name, err)
		}
	}
	for _, folder := range []string{"a/b", "..", ".a", "A", "a\\", part + "a"} {
		_, err := b.List(b.Context(), folder, "", 1)
		b.unavailable("list "+folder, err)
	}
	b.lists("", "", 10)
	good := []string{"-/-", "0/z", part + "/" + part, "b../c.."}
	for _, name := range good {
		b.put(name, name)
		b.has(name, name)
	}
	b.lists("", "", 10, good...)
}

// objectsConcurrent lets writers replace an object while readers read it.
func objectsConcurrent(b *objectsBench) {
	contents := []string{strings.Repeat("a", 300_000), strings.Repeat("b", 100_000)}
	b.put("room/file", contents[0])
	var all sync.WaitGroup
	for _, content := range contents {
		all.Go(func() {
			for range 10 {
				if err := b.Put(b.Context(), "room/file", strings.NewReader(content), int64(len(content))); err != nil {
					b.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 20 {
				got, size, err := readObject(b.Context(), b, "room/file")
				if err != nil || !slices.Contains(contents, got) || size != int64(len(got)) {
					b.Errorf("read %d bytes of %d: %v", len(got), size, err)
				}
			}
		})
	}
	all.Wait()
	b.lists("", "", 10, "room/file")
}

func readObject(ctx context.Context, o files.Objects, name string) (string, int64, error) {
	content, size, err := o.Get(ctx, name, 0)
	if err != nil {
		return "", 0, err
	}
	var got bytes.Buffer
	_, err = got.ReadFrom(content)
	return got.String(), size, errors.Join(err, content.Close())
}

// objectsComeAndGo stores and removes objects of one folder at the same time, so that the folder is empty now and then. Each must be there after
// its Put.
func objectsComeAndGo(b *objectsBench) {
	var all sync.WaitGroup
	for _, name := range []string{"room/a", "room/b", "room/c"} {
		all.Go(func() {
			for range 30 {
				if err := b.Put(b.Context(), name, strings.NewReader(name), int64(len(name))); err != nil {
					b.Error(err)
				}
				if got, _, err := readObject(b.Context(), b, name); err != nil || got != name {
					b.Errorf("read %q: %v", got, err)
				}
				if err := b.Delete(b.Context(), name); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.lists("", "", 10)
}
