package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"hongbao/chat"
	"hongbao/chat/files"
)

const (
	pageRecords = 1_000
	pageEntries = 500
	filesFolder = "files" // below the folder of the archive
)

// Target is where an export writes.
type Target struct {
	Lines io.Writer
	// Create makes a new file with this path below the folder of the archive. It may be one that an export before has written.
	Create func(path string) (io.WriteCloser, error)
}

// exporter is the state of one export.
type exporter struct {
	store Store
	files *files.Service // nil: files are left out
	to    Target
	lines *Writer
	told  func(Done)
	done  Done
}

// Export writes the users, the rooms with members, their texts and their files. The database may change meanwhile: of each room the archive then
// has what was there when the export came to it. fs is nil if there are no files; told is called from time to time, and may be nil.
func Export(ctx context.Context, store Store, fs *files.Service, to Target, told func(Done)) (Done, error) {
	e := &exporter{store: store, files: fs, to: to, lines: NewWriter(to.Lines), told: told}
	if err := e.users(ctx); err != nil {
		return e.done, err
	}
	for next, more := "", true; more; more = next != "" {
		rooms, after, err := store.RoomRecords(ctx, chat.RoomQuery{Next: next, Limit: pageRecords})
		if err != nil {
			return e.done, err
		}
		for _, r := range rooms {
			if err := e.room(ctx, r); err != nil {
				return e.done, fmt.Errorf("room %s: %w", r.ID, err)
			}
		}
		next = after
	}
	return e.done, nil
}

func (e *exporter) users(ctx context.Context) error {
	for next, more := "", true; more; more = next != "" {
		users, after, err := e.store.UserRecords(ctx, chat.UserQuery{Next: next, Limit: pageRecords})
		if err != nil {
			return err
		}
		for _, u := range users {
			if u.IsSystem() {
				continue
			}
			if err := e.lines.User(User{ID: u.ID, Name: u.Name, Avatar: u.Avatar, Ref: u.Ref, Custom: u.Custom}); err != nil {
				return err
			}
			e.done.Users++
		}
		e.tell()
		next = after
	}
	return nil
}

func (e *exporter) tell() {
	if e.told != nil {
		e.told(e.done)
	}
}

// room writes a room, its texts and then its members: so an import counts its texts as read.
func (e *exporter) room(ctx context.Context, r chat.RoomRecord) error {
	members, err := e.members(ctx, r.ID)
	if err != nil {
		return err
	}
	line := Room{ID: r.ID, Ref: r.Ref, Name: r.Name, Kind: r.Kind, Owner: r.Owner, At: r.CreatedAt.UnixMilli(), Announcement: r.Announcement}
	switch {
	case r.Kind == chat.Direct && len(members) == 2:
		line.Users = []string{members[0].User, members[1].User}
		members = nil
	case r.Kind == chat.Direct, r.Owner == "":
		e.done.LeftOut++
		return nil
	}
	if err := e.lines.Room(line); err != nil {
		return err
	}
	if err := e.texts(ctx, r.ID); err != nil {
		return err
	}
	for _, m := range members {
		if err := e.lines.Member(m); err != nil {
			return err
		}
	}
	e.done.Rooms++
	e.done.Members += len(members)
	e.tell()
	return nil
}

func (e *exporter) members(ctx context.Context, room string) (all []Member, err error) {
	for next, more := "", true; more; more = next != "" {
		members, after, err := e.store.Members(ctx, room, next, pageRecords)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			line := Member{Room: room, User: m.User.ID}
			if m.Role != chat.Plain {
				line.Role = m.Role
			}
			all = append(all, line)
		}
		next = after
	}
	return all, nil
}

func (e *exporter) texts(ctx context.Context, room string) error {
	for after, more := int64(0), true; more; {
		var page []chat.Entry
		var err error
		page, more, err = e.store.History(ctx, room, chat.Page{After: &after, Limit: pageEntries, MaxBytes: bytesAtOnce})
		if err != nil {
			return err
		}
		if err := e.page(ctx, room, page); err != nil {
			return err
		}
		if len(page) > 0 {
			after = page[len(page)-1].Seq
		}
		e.tell()
	}
	return nil
}

// shownText is the body of a text in history.
type shownText struct {
	chat.Text

	EditedAt  int64          `json:"edited_at"`
	Reactions map[string]int `json:"reactions"`
}

func (e *exporter) page(ctx context.Context, room string, page []chat.Entry) error {
	bodies := make([]shownText, len(page))
	var reacted []int64
	for i, entry := range page {
		if entry.Kind != chat.KindText {
			continue
		}
		if err := json.Unmarshal(entry.Body, &bodies[i]); err != nil {
			return fmt.Errorf("entry %d: %w", entry.Seq, err)
		}
		if len(bodies[i].Reactions) > 0 {
			reacted = append(reacted, entry.Seq)
		}
	}
	reactions := map[int64]map[string][]string{}
	if len(reacted) > 0 {
		var err error
		if reactions, err = e.store.Reactions(ctx, room, reacted); err != nil {
			return err
		}
	}
	for i, entry := range page {
		if entry.Kind != chat.KindText {
			continue
		}
		if err := e.text(ctx, entry, bodies[i], reactions[entry.Seq]); err != nil {
			return fmt.Errorf("entry %d: %w", entry.Seq, err)
		}
	}
	return nil
}

func (e *exporter) text(ctx context.Context, entry chat.Entry, body shownText, reactions map[string][]string) error {
	line := Text{
		Room: entry.Room, ID: textID(entry.Seq), From: entry.From.ID, Name: entry.From.Name, At: entry.At.UnixMilli(), Text: body.Text.Text, ReplyTo: textID(body.ReplyTo),
		Data: body.Data, Mentions: body.Mentions, MentionAll: body.MentionAll, Preview: body.Preview, Reactions: reactions, EditedAt: body.EditedAt,
	}
	for _, f := range body.Files {
		written, err := e.file(ctx, entry.Room, f)
		if err != nil {
			return err
		}
		if written != nil {
			line.Files = append(line.Files, *written)
		}
	}
	if line.Text == "" && line.Data == nil && len(line.Files) == 0 {
		e.done.LeftOut++ // it is recalled, or all its files are lost
		return nil
	}
	e.done.Texts++
	return e.lines.Text(line)
}

// textID returns the id of a text in the archive: its seq, or "" for 0.
func textID(seq int64) string {
	if seq == 0 {
		return ""
	}
	return strconv.FormatInt(seq, 10)
}

// file writes the content of a file. It returns nil if the file is gone.
func (e *exporter) file(ctx context.Context, room string, f chat.File) (*File, error) {
	if e.files == nil {
		e.done.Lost++
		return nil, nil
	}
	content, err := e.open(ctx, room, f.ID)
	if errors.Is(err, chat.ErrNotFound) {
		e.done.Lost++
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("file %s: %w", f.ID, err)
	}
	line := &File{Path: filesFolder + "/" + f.ID, Kind: f.Kind, Name: f.Name, Type: f.Type, DurationMS: f.DurationMS, Wave: f.Wave}
	if f.Kind == chat.OtherFile {
		line.Kind = ""
	}
	to, err := e.to.Create(line.Path)
	if err != nil {
		return nil, errors.Join(err, content.Close())
	}
	_, err = io.Copy(to, content)
	if err := cmp.Or(err, to.Close(), content.Close()); err != nil {
		return nil, fmt.Errorf("file %s: %w", f.ID, err)
	}
	e.done.Files++
	return line, nil
}

func (e *exporter) open(ctx context.Context, room, id string) (io.ReadCloser, error) {
	c, err := e.files.Open(ctx, chat.System.ID, room, id, files.Original)
	if err != nil {
		return nil, err
	}
	return c.Read(ctx, 0)
}
