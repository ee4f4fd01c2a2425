package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/redpacket/keylock"
	"hongbao/web/wire"
)

const (
	// pieceTime is how long the next piece of an upload may take: 256 KiB at 9 KB/s.
	pieceTime = 30 * time.Second
	// uploadTime is how long one request of an upload may take. A longer upload goes on with another request.
	uploadTime = time.Hour
	// slowestDownload is the least number of bytes a second that a client must take.
	slowestDownload = 10_000

	uploadsAtOnce   = 128 // on this instance: each holds up to a piece in memory
	uploadsOfUser   = 3
	uploadsOfOrigin = 16 // of one address
)

// uploads bounds the uploads at one time: of a user, of an address, and of all.
type uploads struct {
	users, addresses, all keylock.Locks
}

func newUploads() *uploads {
	return &uploads{keylock.Locks{Holders: uploadsOfUser}, keylock.Locks{Holders: uploadsOfOrigin}, keylock.Locks{Holders: uploadsAtOnce}}
}

// begin waits for a place. The caller must call end when the upload has ended.
func (u *uploads) begin(ctx context.Context, user, address string) (end func(), err error) {
	ends := []func(){}
	end = func() {
		for _, end := range ends {
			end()
		}
	}
	for _, l := range []struct {
		*keylock.Locks

		key string
	}{{&u.users, user}, {&u.addresses, address}, {&u.all, ""}} {
		leave, err := l.Lock(ctx, l.key)
		if err != nil {
			end()
			return nil, fmt.Errorf("%w: too many uploads at once: %w", chat.ErrUnavailable, err)
		}
		ends = append(ends, leave)
	}
	return end, nil
}

// serveUpload stores content of an upload.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	s.serveFile(w, r, "upload", func(ctx context.Context) ([]byte, error) {
		c, err := s.callerOf(ctx, r)
		if err != nil {
			return nil, err
		}
		if err := s.rates.SpendHTTP(ctx, c.User.ID); err != nil {
			return nil, err
		}
		offset, err := strconv.ParseInt(cmp.Or(r.URL.Query().Get("offset"), "0"), 10, 64)
		if err != nil || offset < 0 {
			return nil, chat.BadField("offset", "must be a whole number")
		}
		waiting, cancel := context.WithTimeout(ctx, httpTime)
		defer cancel()
		end, err := s.uploads.begin(waiting, c.User.ID, subnet(s.proxies.client(r)))
		if err != nil {
			return nil, err
		}
		defer end()
		control := http.NewResponseController(w)
		ctx, cancel = context.WithTimeout(ctx, uploadTime)
		defer cancel()
		_ = control.SetWriteDeadline(time.Time{}) // the context bounds the request
		return encode(s.commands.Receive(ctx, files.Transfer{
			User: c.User, Room: chi.URLParam(r, "room"), File: chi.URLParam(r, "file"), Offset: offset, Content: r.Body,
			More: func() { _ = control.SetReadDeadline(time.Now().Add(pieceTime)) },
		}))
	})
}

// serveFile answers a request about a file, and records it in the metrics.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, method string, answer func(context.Context) ([]byte, error)) {
	began := time.Now()
	w.Header().Set(requestIDHeader, requestID(r))
	reply, err := answer(r.Context())
	code := wire.Code(0)
	switch {
	case err != nil:
		code = s.refuse(w, err)
	case reply != nil:
		writeJSON(w, http.StatusOK, reply)
	}
	s.metrics.Command(method, code, time.Since(began))
}

// fileLink returns the file that a request asks for, and the user that asks: the one of a link, which has a mac, or the one of the request's token.
func (s *Server) fileLink(r *http.Request) (l files.Link, mac string, err error) {
	query := r.URL.Query()
	l = files.Link{Room: chi.URLParam(r, "room"), File: chi.URLParam(r, "file")}
	if mac = query.Get("mac"); mac != "" {
		l.User = query.Get("user")
		l.Until, err = strconv.ParseInt(query.Get("until"), 10, 64)
		if err != nil {
			err = chat.ErrForbidden
		}
		return l, mac, err
	}
	c, err := s.callerOf(r.Context(), r)
	l.User = c.User.ID
	return l, "", err
}

// serveDownload sends a file, or redirects to the address at which the object store serves it.
func (s *Server) serveDownload(w http.ResponseWriter, r *http.Request) {
	s.serveFile(w, r, "download", func(ctx context.Context) ([]byte, error) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
		l, mac, err := s.fileLink(r)
		if err != nil {
			return nil, err
		}
		c, err := s.commands.Download(ctx, l, mac, files.Version(chi.URLParam(r, "version")))
		if err != nil {
			return nil, err
		}
		if c.Address != "" {
			h.Set("Cache-Control", "no-store") // the address works for a minute only
			http.Redirect(w, r, c.Address, http.StatusTemporaryRedirect)
			return nil, nil
		}
		content := &download{ctx: ctx, content: c}
		defer content.close()
		if err := content.open(0); err != nil { // an object that cannot be read is an error, not a body that breaks off
			return nil, err
		}
		if strings.Contains(r.Header.Get("Range"), ",") { // each range of many would open the object anew
			r.Header.Del("Range")
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pieceTime + time.Duration(c.Size/slowestDownload)*time.Second))
		h.Set("Cache-Control", "private, max-age=900")
		h.Set("Content-Type", c.Type)
		h.Set("Content-Disposition", c.Disposition)
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		http.ServeContent(w, r, "", time.Time{}, content)
		return nil, nil
	})
}

// download reads a file for http.ServeContent.
type download struct {
	ctx     context.Context
	content files.Content
	at      int64         // offset of the next Read
	body    io.ReadCloser // nil: not open
	from    int64         // offset at which body is
}

func (d *download) open(offset int64) (err error) {
	d.close()
	d.body, err = d.content.Read(d.ctx, offset)
	d.from = offset
	return err
}

func (d *download) close() {
	if d.body != nil {
		_ = d.body.Close()
	}
	d.body = nil
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	if d.body == nil || d.from != d.at {
		if err := d.open(d.at); err != nil {
			return 0, err
		}
	}
	n, err := d.body.Read(p)
	d.at, d.from = d.at+int64(n), d.from+int64(n)
	return n, err
}

// Seek implements io.Seeker.
func (d *download) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += d.at
	case io.SeekEnd:
		offset += d.content.Size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of a file")
	}
	d.at = offset
	return offset, nil
}
