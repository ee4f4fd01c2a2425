package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/store/trail"
	"hongbao/web/host/hostapi"
)

const (
	recordsName = "records.jsonl" // in the zip file of a user
	recordsPage = 200
)

// exportUser writes a zip file of all that is stored of a user. It is written under another name first: a broken export leaves no whole file.
func (p *program) exportUser(ctx context.Context, user, to string) (err error) {
	if err := chat.CheckUser("user", user); err != nil {
		return err
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists and is not replaced: name a new file", to)
	}
	engines, err := store.OpenForExport(ctx, p.config.engines(), p.log())
	if err != nil {
		return explainNoBooks(err)
	}
	defer func() { err = errors.Join(err, engines.Close()) }()
	half := to + ".part"
	file, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	e := userExport{Archive: engines, user: user, zip: zip.NewWriter(file)}
	err = e.write(ctx)
	if err := errors.Join(err, e.zip.Close(), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(half))
	}
	if err := os.Rename(half, to); err != nil {
		return err
	}
	p.print(fmt.Sprintf("%s has %d records of %s and %d files\n", to, e.records, user, e.files))
	p.printCount(e.lost, "files are left out: the object store does not have them")
	return nil
}

// userExport is the state of one export. It reads page by page, so its memory does not grow with what the user has written.
type userExport struct {
	*store.Archive

	user    string
	zip     *zip.Writer
	lines   *json.Encoder
	records int
	files   int
	lost    int
}

// write writes the records and then the contents of the files.
func (e *userExport) write(ctx context.Context) error {
	to, err := e.zip.Create(recordsName)
	if err != nil {
		return err
	}
	e.lines = json.NewEncoder(to)
	e.lines.SetEscapeHTML(false)
	for _, part := range []func(context.Context) error{e.profile, e.rooms, e.entries, e.transfers, e.fileRecords, e.refusals, e.sockets, e.acts, e.contents} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// record is a line. Which fields it has depends on its type.
type record struct {
	Type   string          `json:"type"`
	ID     string          `json:"id,omitempty"`
	At     int64           `json:"at,omitempty"` // Unix milliseconds
	Name   string          `json:"name,omitempty"`
	Avatar string          `json:"avatar,omitempty"`
	Ref    string          `json:"ref,omitempty"`
	Custom json.RawMessage `json:"custom,omitempty"`

	Suspended int64 `json:"suspended_at,omitempty"`
	Erased    int64 `json:"erased_at,omitempty"`

	Service string          `json:"service,omitempty"` // of a device: the host of its push service
	Room    string          `json:"room,omitempty"`
	Seq     int64           `json:"seq,omitempty"`
	Kind    string          `json:"kind,omitempty"`
	Role    string          `json:"role,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"`

	// Of a room: what the user has decided about it.
	Silent      bool  `json:"silent,omitempty"`
	SilentUntil int64 `json:"silent_until,omitempty"`
	Pinned      bool  `json:"pinned,omitempty"`
	Archived    bool  `json:"archived,omitempty"`

	Packet string `json:"packet,omitempty"`
	Amount int64  `json:"amount,omitempty"`
	Note   string `json:"note,omitempty"`
	Path   string `json:"path,omitempty"` // of a file, in the zip file
	Media  string `json:"media,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Actor  string `json:"actor,omitempty"`
	Method string `json:"method,omitempty"`
	Reason string `json:"reason,omitempty"`
	Code   int    `json:"code,omitempty"` // of a socket: the close code
}

func (e *userExport) put(r record) error {
	e.records++
	return e.lines.Encode(r)
}

// millis returns Unix milliseconds; 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// profile writes the user, and its devices without their keys.
func (e *userExport) profile(ctx context.Context) error {
	u, err := e.Store.UserRecord(ctx, e.user)
	if errors.Is(err, chat.ErrNotFound) {
		return fmt.Errorf("there is no user %s", e.user)
	}
	if err != nil {
		return err
	}
	if err := e.put(record{Type: "user", ID: u.ID, Name: u.Name, Avatar: u.Avatar, Ref: u.Ref, Custom: u.Custom, Suspended: millis(u.SuspendedAt), Erased: millis(u.ErasedAt)}); err != nil {
		return err
	}
	devices, err := e.Store.SubscriptionsOf(ctx, e.user)
	if err != nil {
		return err
	}
	for _, d := range devices {
		service := ""
		if address, err := url.Parse(d.Endpoint); err == nil {
			service = address.Host
		}
		if err := e.put(record{Type: "device", Service: service, At: millis(d.At)}); err != nil {
			return err
		}
	}
	return nil
}

// rooms writes the rooms that the user is in.
func (e *userExport) rooms(ctx context.Context) error {
	rooms, err := e.Store.Memberships(ctx, e.user)
	if err != nil {
		return err
	}
	for _, m := range rooms {
		if err := e.put(record{
			Type: "room", ID: m.Room.ID, Name: m.Room.Name, Kind: string(m.Room.Kind), Role: string(m.Role),
			Silent: m.Prefs.Silent, SilentUntil: millis(m.Prefs.SilentUntil), Pinned: m.Prefs.Pinned, Archived: m.Prefs.Archived,
		}); err != nil {
			return err
		}
	}
	return nil
}

func (e *userExport) entries(ctx context.Context) error {
	return eachPage(func(next string) ([]chat.Entry, string, error) {
		return e.Store.EntriesOf(ctx, e.user, next, recordsPage)
	}, func(entry chat.Entry) error {
		return e.put(record{Type: "entry", Room: entry.Room, Seq: entry.Seq, At: millis(entry.At), Kind: string(entry.Kind), Body: entry.Body})
	})
}

// transfers writes the credits, debits, packets, shares and refunds of the user. A debit and a sent packet have a negative amount.
func (e *userExport) transfers(ctx context.Context) error {
	return eachPage(func(next string) ([]redpacket.LedgerTransfer, string, error) {
		return e.Books.Ledger.Transfers(ctx, e.user, next, recordsPage)
	}, func(t redpacket.LedgerTransfer) error {
		return e.put(record{Type: "transfer", ID: t.ID, At: millis(t.At), Kind: string(t.Kind), Amount: int64(t.Amount), Packet: t.Packet, Note: t.Note, Reason: t.Reason})
	})
}

// eachFile calls do with each file that the user has uploaded and that is not removed.
func (e *userExport) eachFile(ctx context.Context, do func(files.Stored) error) error {
	return eachPage(func(next string) ([]files.Stored, string, error) {
		return e.Books.Files.ListFiles(ctx, files.Query{User: e.user, Next: next, Limit: recordsPage})
	}, do)
}

// eachPage calls do with each row of all pages.
func eachPage[T any](read func(next string) (page []T, following string, err error), do func(T) error) error {
	for next, more := "", true; more; more = next != "" {
		page, following, err := read(next)
		if err != nil {
			return err
		}
		for _, row := range page {
			if err := do(row); err != nil {
				return err
			}
		}
		next = following
	}
	return nil
}

func (e *userExport) fileRecords(ctx context.Context) error {
	return e.eachFile(ctx, func(f files.Stored) error {
		return e.put(record{Type: "file", ID: f.ID, Path: pathOf(f), Name: f.Name, Kind: string(f.Kind), Media: f.Type, Size: f.Size, Room: f.Room, Seq: f.Seq, At: millis(f.At)})
	})
}

// pathOf returns where the content of a file is in the zip file: its id, because its name is what a user has chosen.
func pathOf(f files.Stored) string { return "files/" + f.ID }

// refusals writes the grabs of the last days that got no share.
func (e *userExport) refusals(ctx context.Context) error {
	return eachPage(func(next string) ([]trail.Refusal, string, error) {
		return e.Books.Trail.RefusalsOf(ctx, e.user, next, recordsPage)
	}, func(r trail.Refusal) error {
		return e.put(record{Type: "refusal", Packet: r.Packet, At: millis(r.At), Reason: r.Why})
	})
}

// sockets writes when sockets of the user were opened in the last days, and how they ended.
func (e *userExport) sockets(ctx context.Context) error {
	return eachPage(func(next string) ([]trail.SocketEvent, string, error) {
		return e.Books.Trail.SocketsOf(ctx, e.user, next, recordsPage)
	}, func(s trail.SocketEvent) error {
		return e.put(record{Type: "socket", ID: s.Socket, At: millis(s.At), Kind: s.What, Code: s.Code})
	})
}

// acts writes the acts of administrators and API keys whose request names the user. It reads all acts.
func (e *userExport) acts(ctx context.Context) error {
	now := time.Now()
	for after := ""; ; {
		acts, next, err := e.Books.Security.ActsAfter(ctx, after, now, recordsPage)
		if err != nil || len(acts) == 0 {
			return err
		}
		for _, a := range acts {
			if !hostapi.Names(a.Request, e.user) {
				continue
			}
			if err := e.put(record{Type: "act", ID: a.ID, At: millis(a.At), Actor: a.Actor, Method: a.Method, Reason: a.Reason}); err != nil {
				return err
			}
		}
		after = next
	}
}

// contents writes the contents of the files, uncompressed: most are compressed already.
func (e *userExport) contents(ctx context.Context) error {
	return e.eachFile(ctx, func(f files.Stored) error {
		content, err := e.open(ctx, f)
		if errors.Is(err, chat.ErrNotFound) {
			e.lost++
			return nil
		}
		if err != nil {
			return fmt.Errorf("file %s: %w", f.ID, err)
		}
		to, err := e.zip.CreateHeader(&zip.FileHeader{Name: pathOf(f), Method: zip.Store, Modified: f.At})
		if err == nil {
			_, err = io.Copy(to, content)
		}
		e.files++
		return errors.Join(err, content.Close())
	})
}

func (e *userExport) open(ctx context.Context, f files.Stored) (io.ReadCloser, error) {
	if e.Files == nil {
		return nil, chat.ErrNotFound
	}
	c, err := e.Files.Open(ctx, chat.System.ID, f.Room, f.ID, files.Original)
	if err != nil {
		return nil, err
	}
	return c.Read(ctx, 0)
}
