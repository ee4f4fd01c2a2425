// Package files uploads and reads the files of texts, and reads the proofs of packets. They go over HTTP, so they need more than the socket of package client.
//
// The following must always hold: an upload goes on where it was when a connection breaks, and what is uploaded and not wanted any more is removed.
package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hongbao/web/client"
	"hongbao/web/wire"
)

// Transfer uploads and reads files as a user. It is safe for concurrent use.
type Transfer struct {
	Client  *client.Client
	Address string                                    // of the server, such as https://chat.example.com
	Token   func(ctx context.Context) (string, error) // returns a token of the user that is valid
	HTTP    *http.Client                              // nil: http.DefaultClient
}

const (
	firstPause   = 200 * time.Millisecond // after a failure; it doubles up to longestPause
	longestPause = 10 * time.Second
	heldPause    = 2 * time.Second // between two questions whether the host has released a file
	cancelWithin = 5 * time.Second
)

// Upload uploads a file, and returns it when a text may have it. It repeats what fails for a time, until ctx ends. progress, if it is not nil, is called
// with the number of bytes that have gone out; after a broken connection it may go back. If Upload fails, it removes what has come.
func (t Transfer) Upload(ctx context.Context, u wire.BeginFileRequest, content io.ReaderAt, progress func(sent int64)) (wire.File, error) {
	var state wire.FileState
	if err := t.Client.Call(ctx, "begin_file", u, &state); err != nil {
		return wire.File{}, err
	}
	done, err := t.finish(ctx, u, state, content, progress)
	if err != nil {
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelWithin)
		defer cancel()
		_ = t.Client.Call(cleanup, "cancel_file", wire.FileRequest{Room: u.Room, File: state.File.ID}, &wire.CancelFileReply{}) // otherwise it goes after a day
		return wire.File{}, fmt.Errorf("upload %s: %w", cmp.Or(u.Name, u.Kind), err)
	}
	return done.File, nil
}

// finish sends the content, and waits until the file is ready.
func (t Transfer) finish(ctx context.Context, u wire.BeginFileRequest, s wire.FileState, content io.ReaderAt, progress func(int64)) (wire.FileState, error) {
	for pause := firstPause; ; {
		wait, err := heldPause, error(nil)
		if s.State == "coming" {
			s, err = t.send(ctx, u, s, content, progress)
		}
		switch {
		case err == nil && s.State == "ready":
			return s, nil
		case err != nil && !again(err):
			return s, err
		case err != nil:
			wait, pause = pause, min(2*pause, longestPause)
		}
		if ended := sleep(ctx, wait); ended != nil {
			return s, errors.Join(ended, err)
		}
		received := s.Received
		if err := t.Client.Call(ctx, "file_state", wire.FileRequest{Room: u.Room, File: s.File.ID}, &s); err != nil {
			return s, err
		}
		if s.Received > received {
			pause = firstPause
		}
	}
}

// again reports whether a request may be repeated after this error: one without an answer, a temporary one, and an offset that another request has passed.
func again(err error) bool {
	var refused *client.Error
	return !errors.As(err, &refused) || refused.Temporary || refused.Code == wire.CodeConflict
}

// send sends what is missing of the content. After an error it returns the state as it was.
func (t Transfer) send(ctx context.Context, u wire.BeginFileRequest, s wire.FileState, content io.ReaderAt, progress func(int64)) (wire.FileState, error) {
	path := filePath(u.Room, s.File.ID) + "?offset=" + strconv.FormatInt(s.Received, 10)
	body := &told{Reader: io.NewSectionReader(content, s.Received, u.Size-s.Received), at: s.Received, tell: progress}
	answer, err := t.do(ctx, http.MethodPost, path, body, u.Size-s.Received)
	if err != nil {
		return s, err
	}
	defer func() { _ = answer.Body.Close() }()
	next := s
	if err := json.NewDecoder(answer.Body).Decode(&next); err != nil {
		return s, err
	}
	return next, nil
}

// told tells how far a reader has come.
type told struct {
	io.Reader

	at   int64
	tell func(int64)
}

func (t *told) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if t.at += int64(n); n > 0 && t.tell != nil {
		t.tell(t.at)
	}
	return n, err
}

// Open reads a file from the offset on. version is original, middle or small. The caller must close the content.
func (t Transfer) Open(ctx context.Context, room, file, version string, offset int64) (io.ReadCloser, error) {
	answer, err := t.do(ctx, http.MethodGet, filePath(room, file)+"/"+url.PathEscape(version), http.NoBody, 0, "Range", fmt.Sprintf("bytes=%d-", offset))
	if err != nil {
		return nil, fmt.Errorf("read file %s: %w", file, err)
	}
	if offset > 0 && answer.StatusCode != http.StatusPartialContent {
		return nil, errors.Join(fmt.Errorf("read file %s: the server sends it from the beginning", file), answer.Body.Close())
	}
	return answer.Body, nil
}

func filePath(room, file string) string {
	return "/v1/files/" + url.PathEscape(room) + "/" + url.PathEscape(file)
}

// do sends a request with the user's token. The error is a *client.Error if the server has refused it.
func (t Transfer) do(ctx context.Context, method, path string, body io.Reader, size int64, header ...string) (*http.Response, error) {
	token, err := t.Token(ctx)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, t.Address+path, body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = size
	request.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := cmp.Or(t.HTTP, http.DefaultClient).Do(request)
	if err != nil || answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	defer func() { _ = answer.Body.Close() }()
	var refused wire.ErrorBody
	if err := json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&refused); err != nil || refused.Error.Code == 0 {
		return nil, fmt.Errorf("the server answered %s", answer.Status)
	}
	return nil, client.NewError(refused.Error)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
