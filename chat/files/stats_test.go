package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
)

// wantUploads compares the outcomes of uploads, such as "begun=1 ready=1".
func (f *fixture) wantUploads(want string) {
	f.Helper()
	var got []string
	for _, o := range []files.Outcome{"begun", "ready", "held", "invalid", "denied", "full", "cut", "failed"} {
		if n := f.Stats().Uploads[o]; n > 0 {
			got = append(got, fmt.Sprintf("%s=%d", o, n))
		}
	}
	if text := strings.Join(got, " "); text != want {
		f.Errorf("uploads are counted as %q, want %q", text, want)
	}
}

// failures returns how often the operation of the object store has failed.
func (f *fixture) failures(operation string) int64 {
	for _, c := range f.Stats().Store {
		if c.Operation == operation {
			return c.Failures
		}
	}
	f.Errorf("there is no operation %s", operation)
	return 0
}

func TestUploadsAreCounted(t *testing.T) {
	f := newFixture(t)
	content := bytesOf(files.PieceBytes+7, 1)
	done := f.uploaded(ann, content)
	f.wantUploads("begun=1 ready=1")
	_, err := f.Begin(t.Context(), ann, files.Upload{Room: f.room, Kind: chat.OtherFile, Name: "x", Size: 11 << 20})
	f.wantError(err, chat.ErrTooLong, "size")
	for err == nil || !errors.Is(err, chat.ErrLimitExceeded) {
		_, err = f.Begin(t.Context(), ann, files.Upload{Room: f.room, Kind: chat.OtherFile, Name: "x", Size: 10 << 20})
	}
	f.wantUploads("begun=2 ready=1 invalid=1 full=1")
	_, err = f.Begin(t.Context(), eve, files.Upload{Room: f.room, Kind: chat.OtherFile, Name: "x", Size: 1})
	f.wantError(err, chat.ErrNotFound, "") // a user outside the room says nothing about uploads
	s := f.begin(ann, len(content))
	_, err = f.receive(ann, s, 0, errReader{errors.New("the connection broke")})
	f.wantError(err, chat.ErrUnavailable, "")
	f.objects.failing(func(call, _ string) error {
		if call == "put" {
			return fmt.Errorf("%w: the disk is full", chat.ErrUnavailable)
		}
		return nil
	})
	_, err = f.receive(ann, s, 0, bytes.NewReader(content))
	f.wantError(err, chat.ErrUnavailable, "")
	f.objects.failing(nil)
	f.wantUploads("begun=3 ready=1 invalid=1 full=1 cut=1 failed=1")
	if n := f.failures("put"); n != 1 {
		t.Errorf("%d puts have failed, want 1", n)
	}
	f.judge = func(context.Context, chat.User, files.Stored) (bool, error) { return true, nil }
	_, err = f.receive(ann, s, 0, bytes.NewReader(content))
	noError(t, err)
	refused := errors.New("a virus")
	f.judge = func(context.Context, chat.User, files.Stored) (bool, error) { return false, refused }
	_, err = f.receive(ann, f.begin(ann, 3), 0, strings.NewReader("bad"))
	f.wantError(err, refused, "")
	f.judge = nil
	f.wantUploads("begun=4 ready=1 held=1 invalid=1 denied=1 full=1 cut=1 failed=1")

	if _, _, err := f.content(ann, done, files.Original); err != nil {
		t.Error(err)
	}
	got := f.Stats()
	if got.Downloads["server"] != 1 || got.Downloads["store"] != 0 || got.Sent != int64(len(content)) || got.Received != int64(2*len(content)+3) {
		t.Errorf("downloads %v, received %d bytes, sent %d, want 1, %d and %d", got.Downloads, got.Received, got.Sent, 2*len(content)+3, len(content))
	}
}

// TestSampleOfFiles lets the service run and count. A sample must be gone when it is old, and failed removals must be counted.
func TestSampleOfFiles(t *testing.T) {
	f := newFixture(t)
	f.judge = func(context.Context, chat.User, files.Stored) (bool, error) { return true, nil }
	f.uploaded(ann, bytesOf(10, 1))
	f.judge = nil
	gone := f.uploaded(ann, bytesOf(20, 2))
	noError(t, f.Cancel(t.Context(), ann.ID, f.room, gone.ID))
	f.now = f.now.Add(files.DropGrace)
	f.objects.failing(func(call, _ string) error {
		if call == "delete" {
			return fmt.Errorf("%w: no right to delete", chat.ErrUnavailable)
		}
		return nil
	})
	if f.Stats().Sample != nil {
		t.Error("there is a sample before the first one")
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Service.Run(ctx)
	}()
	for f.Stats().Sample == nil {
		time.Sleep(time.Millisecond) // sleeps: until the service has counted
	}
	stop()
	<-ended
	if s := f.Stats(); *s.Sample != (files.Sample{Bytes: 30, Held: 1, Dropped: 1}) || s.SweepFailures != 1 || s.Most != 20<<20 {
		t.Errorf("the sample is %+v of at most %d bytes, with %d failures", *s.Sample, s.Most, s.SweepFailures)
	}
	if n := f.failures("delete"); n != 1 {
		t.Errorf("%d removals from the store have failed, want 1", n)
	}
	f.now = f.now.Add(3 * time.Minute)
	if f.Stats().Sample != nil {
		t.Error("a sample of three minutes ago is shown")
	}
}

// TestFailuresOfTheStoreAreToldApart reads objects that are missing, that break off, and whose reader is gone. Only the second is a failure of the store.
func TestFailuresOfTheStoreAreToldApart(t *testing.T) {
	f := newFixture(t)
	s := f.uploaded(ann, bytesOf(10, 1))
	f.objects.failing(func(string, string) error { return chat.ErrNotFound })
	_, _, err := f.content(ann, s, files.Original)
	f.wantError(err, chat.ErrUnavailable, "")
	if n := f.failures("get"); n != 0 {
		t.Errorf("a missing object counts as %d failures", n)
	}
	f.objects.failing(nil)
	f.objects.Objects = brokenContent{f.objects.Objects}
	for ended, want := range map[bool]int64{true: 0, false: 1} {
		c, err := f.Open(t.Context(), ann.ID, s.Room, s.ID, files.Original)
		noError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		body, err := c.Read(ctx, 0)
		noError(t, err)
		if ended {
			cancel()
		}
		before := f.failures("get")
		if _, err := io.ReadAll(body); err == nil {
			t.Error("a content that breaks off has ended well")
		}
		if n := f.failures("get") - before; n != want {
			t.Errorf("reader gone: %v: %d failures, want %d", ended, n, want)
		}
		noError(t, body.Close())
		cancel()
	}
}

// brokenContent is an object store whose contents break off.
type brokenContent struct{ files.Objects }

func (o brokenContent) Get(ctx context.Context, name string, offset int64) (io.ReadCloser, int64, error) {
	body, size, err := o.Objects.Get(ctx, name, offset)
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(body, 3), errReader{chat.ErrUnavailable}), body}, size, err
}
