package archive

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
)

const (
	textsAtOnce   = 1_000
	bytesAtOnce   = 1 << 20 // of the lines of these texts
	membersAtOnce = 1_000
	usersAtOnce   = 500
	namesKept     = 100_000
	idBytes       = 200
)

// Done counts what an import or an export has done.
type Done struct {
	Users, Rooms, Members, Texts, Files int

	Known    int // texts that were imported before
	Refused  int // members that could not be added, such as guests in a room that takes none
	LeftOut  int // lines about users that are erased here; of an export, recalled texts, and rooms without members
	Lost     int // files that an export has not found
	Unsolved int // replies to texts that are not in the archive: they are imported as texts of their own
}

// Options configures an import.
type Options struct {
	Files  *files.Service // nil: an archive with files is refused
	Folder fs.FS          // with the contents of files
	Limits chat.Limits
	Index  bool       // the search finds the texts at once
	Told   func(Done) // called after each step; may be nil
	Log    *slog.Logger
}

// importer is the state of one import. Lines of one type that follow each other are carried out together.
type importer struct {
	store Store
	chat  *chat.Service
	o     Options
	done  Done

	at    time.Time            // clock of chat: the time of the room that is created
	rooms map[string]knownRoom // by their ids in the archive
	names map[string]chat.User // a cache

	line     int // number of the present line
	from, to int // numbers of the first and the last line that wait
	users    []chat.UserChange
	texts    []Text // of one room
	textSize int
	members  []Member // of one room
}

// knownRoom is a room of the archive.
type knownRoom struct {
	id    string // here
	owner string
}

// Import reads an archive into the database. An error names the line; what was read before stays.
func Import(ctx context.Context, store Store, from io.Reader, o Options) (Done, error) {
	i := &importer{store: store, o: o, rooms: map[string]knownRoom{}, names: map[string]chat.User{}}
	o.Limits.Rooms = math.MaxInt32 // the archive decides in how many rooms a user is
	i.chat = chat.New(store, chat.Discard{}, chat.Options{Now: func() time.Time { return i.at }, Limits: o.Limits, Log: o.Log})
	defer i.chat.Stop()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, LineBytes)
	for lines.Scan() {
		i.line++
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		if err := i.take(ctx, lines.Bytes()); err != nil {
			return i.done, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return i.done, fmt.Errorf("line %d: is longer than %d bytes", i.line+1, LineBytes)
	case err != nil:
		return i.done, fmt.Errorf("read line %d: %w", i.line+1, err)
	}
	return i.done, i.flush(ctx)
}

// take carries out a line, or lets it wait for the lines that follow.
func (i *importer) take(ctx context.Context, line []byte) error {
	parsed, err := parse(line)
	if err != nil {
		return fmt.Errorf("line %d: %w", i.line, err)
	}
	if !i.joins(parsed) {
		if err := i.flush(ctx); err != nil {
			return err
		}
		i.from = i.line
	}
	i.to = i.line
	switch l := parsed.(type) {
	case User:
		i.users = append(i.users, change(l))
	case Room:
		err = i.room(ctx, l)
	case Text:
		i.texts, i.textSize = append(i.texts, l), i.textSize+len(line)
		err = i.check(l)
	case Member:
		i.members = append(i.members, l)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", i.line, err)
	}
	return nil
}

// joins reports whether the line can be carried out together with those that wait.
func (i *importer) joins(line any) bool {
	switch l := line.(type) {
	case User:
		return len(i.users) > 0 && len(i.users) < usersAtOnce
	case Text:
		return len(i.texts) > 0 && len(i.texts) < textsAtOnce && i.textSize < bytesAtOnce && i.texts[0].Room == l.Room
	case Member:
		return len(i.members) > 0 && len(i.members) < membersAtOnce && i.members[0].Room == l.Room
	}
	return false
}

// flush carries out the lines that wait.
func (i *importer) flush(ctx context.Context) (err error) {
	switch {
	case len(i.users) > 0:
		err = i.putUsers(ctx)
	case len(i.texts) > 0:
		err = i.putTexts(ctx)
	case len(i.members) > 0:
		err = i.putMembers(ctx)
	}
	if err != nil {
		return fmt.Errorf("lines %d to %d: %w", i.from, i.to, err)
	}
	i.users, i.texts, i.members, i.textSize = nil, nil, nil, 0
	if i.o.Told != nil {
		i.o.Told(i.done)
	}
	return nil
}

// change returns the change of a user. Empty fields leave what is stored.
func change(u User) chat.UserChange {
	c := chat.UserChange{User: u.ID, Custom: u.Custom}
	for value, field := range map[string]**string{u.Name: &c.Name, u.Avatar: &c.Avatar, u.Ref: &c.Ref} {
		if value != "" {
			*field = &value
		}
	}
	return c
}

// withoutErased returns those of the lines whose user is not erased here: what an archive says of the others must not come back.
func withoutErased[T any](ctx context.Context, i *importer, lines []T, user func(T) string) (kept []T, err error) {
	ids := make([]string, len(lines))
	for n := range lines {
		ids[n] = user(lines[n])
	}
	n := len(lines)
	slices.Sort(ids)
	records, err := i.chat.UserRecordsOf(ctx, slices.Compact(ids), nil)
	if err != nil {
		return nil, err
	}
	erased := map[string]bool{}
	for _, u := range records {
		erased[u.ID] = u.Erased()
	}
	kept = slices.DeleteFunc(lines, func(line T) bool { return erased[user(line)] })
	i.done.LeftOut += n - len(kept)
	return kept, nil
}

func (i *importer) putUsers(ctx context.Context) (err error) {
	if i.users, err = withoutErased(ctx, i, i.users, func(u chat.UserChange) string { return u.User }); err != nil || len(i.users) == 0 {
		return err
	}
	if _, err := i.chat.PutUsers(ctx, i.users); err != nil {
		return err
	}
	for _, u := range i.users {
		delete(i.names, u.User)
	}
	i.done.Users += len(i.users)
	return nil
}

func (i *importer) room(ctx context.Context, r Room) error {
	if err := checkID("id", r.ID); err != nil {
		return err
	}
	i.at = time.Now()
	if r.At != 0 {
		i.at = time.UnixMilli(r.At)
	}
	switch _, err := i.chat.RoomRecord(ctx, r.ID); {
	case err == nil:
		return fmt.Errorf("room %s is one of this installation: its own export would add all texts again", r.ID)
	case !errors.Is(err, chat.ErrNotFound) && !errors.Is(err, chat.ErrBadRequest): // an id of another chat may be longer than ours
		return err
	}
	made, err := i.makeRoom(ctx, r)
	if err != nil {
		return err
	}
	i.rooms[r.ID] = knownRoom{made, r.Owner}
	i.done.Rooms++
	return nil
}

// makeRoom returns the id of a room, which it creates if it is new.
func (i *importer) makeRoom(ctx context.Context, r Room) (string, error) {
	if r.Kind == chat.Direct {
		if len(r.Users) != 2 {
			return "", chat.BadField("users", "must be the two users of the direct room")
		}
		if err := cmp.Or(i.chat.CheckDirect(r.Users[0], r.Users[1]), chat.CheckUser("users", r.Users[0])); err != nil {
			return "", err
		}
		if err := i.store.EnsureUsers(ctx, r.Users); err != nil {
			return "", err
		}
		made, err := i.store.Direct(ctx, chat.Pairing{
			ID: chat.NewID(i.at), User: chat.User{ID: r.Users[0]}, Other: r.Users[1], At: i.at, EntryID: chat.NewID(i.at), MaxRooms: i.chat.Limits().Rooms,
		})
		return made.Membership.Room.ID, err
	}
	if len(r.Users) > 0 {
		return "", chat.BadField("users", "are only of a direct room: others have lines of the type member")
	}
	ref := cmp.Or(r.Ref, r.ID)
	made, _, err := i.chat.CreateHostRoom(ctx, chat.HostRoom{
		CreateRoom: chat.CreateRoom{Name: r.Name, Kind: r.Kind, Key: importKey(ref)}, Owner: r.Owner, Ref: ref, Announcement: r.Announcement,
	})
	if errors.Is(err, chat.ErrKeyReused) { // the line has changed since
		page, _, err := i.chat.RoomRecords(ctx, chat.RoomQuery{Ref: ref})
		if err == nil && len(page) == 0 {
			err = fmt.Errorf("room %s was imported before and is deleted", ref)
		}
		if err != nil {
			return "", err
		}
		return page[0].ID, nil
	}
	return made.ID, err
}

// importKey is the idempotency key with which a room is created.
func importKey(ref string) string {
	sum := sha256.Sum256([]byte(ref))
	return "import:" + hex.EncodeToString(sum[:16])
}

func checkID(field, id string) error {
	if id == "" || len(id) > idBytes || strings.ContainsRune(id, 0) {
		return chat.BadField(field, fmt.Sprintf("must have 1 to %d bytes, without U+0000", idBytes))
	}
	return nil
}

// check returns an error if a text cannot be imported.
func (i *importer) check(t Text) error {
	if _, ok := i.rooms[t.Room]; !ok {
		return fmt.Errorf("room %q has no line before this one", t.Room)
	}
	if err := checkID("id", t.ID); err != nil {
		return err
	}
	if err := chat.CheckUser("from", t.From); err != nil {
		return err
	}
	if t.At <= 0 || t.At > math.MaxInt64/int64(time.Millisecond) {
		return chat.BadField("at", "must be Unix milliseconds")
	}
	if len(t.Files) > 0 && i.o.Files == nil {
		return chat.BadField("files", "cannot be imported: HONGBAO_FILES names no object store")
	}
	if len(t.Files) > i.chat.Limits().Files {
		return chat.BadField("files", fmt.Sprintf("must be at most %d", i.chat.Limits().Files))
	}
	if err := checkReactions(t.Reactions); err != nil {
		return err
	}
	m := chat.Message{Room: t.Room, Key: "import", Text: t.Text, Data: t.Data, Mentions: t.Mentions}
	if len(t.Files) > 0 {
		m.Files = []string{"file"} // a text with files may be empty
	}
	return i.chat.CheckMessage(m)
}

func checkReactions(reactions map[string][]string) error {
	if len(reactions) > chat.MostEmojis {
		return chat.BadField("reactions", fmt.Sprintf("must have at most %d emojis", chat.MostEmojis))
	}
	for emoji, users := range reactions {
		if normal, ok := chat.NormalEmoji(emoji); !ok || normal != emoji {
			return chat.BadField("reactions", fmt.Sprintf("has %q, which is no emoji", emoji))
		}
		for n, user := range users {
			if err := chat.CheckUser("reactions", user); err != nil {
				return err
			}
			if slices.Contains(users[:n], user) {
				return chat.BadField("reactions", "has a user twice with one emoji")
			}
		}
	}
	return nil
}

func (i *importer) putTexts(ctx context.Context) (err error) {
	room := i.rooms[i.texts[0].Room].id
	if i.texts, err = withoutErased(ctx, i, i.texts, func(t Text) string { return t.From }); err != nil {
		return err
	}
	var ids []string
	for _, t := range i.texts {
		ids = append(ids, t.ID)
		if t.ReplyTo != "" {
			ids = append(ids, t.ReplyTo)
		}
	}
	known, err := i.store.Imported(ctx, room, ids)
	if err != nil {
		return err
	}
	authors, err := i.authors(ctx)
	if err != nil {
		return err
	}
	var drafts []Draft
	for n, t := range i.texts {
		if known[t.ID] != 0 {
			i.done.Known++
			continue
		}
		if t.ReplyTo != "" && known[t.ReplyTo] == 0 && !slices.ContainsFunc(i.texts[:n], func(before Text) bool { return before.ID == t.ReplyTo }) {
			i.done.Unsolved++
		}
		d, err := i.draft(ctx, room, t, authors[t.From])
		if err != nil {
			return fmt.Errorf("text %s: %w", t.ID, err)
		}
		drafts = append(drafts, d)
	}
	if len(drafts) > 0 {
		added, err := i.store.Import(ctx, room, drafts)
		i.done.Texts += added
		if err != nil {
			return err
		}
	}
	return i.index(ctx, room)
}

// index puts the texts of the room into the index of the search, also those of an import that broke off.
func (i *importer) index(ctx context.Context, room string) (err error) {
	for left := []string{room}; i.o.Index && len(left) > 0 && err == nil; {
		left, err = i.store.IndexEntries(ctx, left, textsAtOnce)
	}
	return err
}

// draft makes the draft of a text, and uploads its files.
func (i *importer) draft(ctx context.Context, room string, t Text, from chat.User) (Draft, error) {
	from.Name = cmp.Or(t.Name, from.Name)
	d := Draft{
		ID: t.ID, From: from, At: time.UnixMilli(t.At), ReplyTo: t.ReplyTo, Reactions: t.Reactions,
		Body: chat.Text{Text: t.Text, Data: compact(t.Data), Mentions: t.Mentions, MentionAll: t.MentionAll, Preview: t.Preview},
	}
	for _, f := range t.Files {
		uploaded, err := i.upload(ctx, room, from, f)
		if err != nil {
			return Draft{}, fmt.Errorf("file %s: %w", f.Path, err)
		}
		d.Files, d.Body.Files = append(d.Files, uploaded.ID), append(d.Body.Files, uploaded.File)
		i.done.Files++
	}
	return d, nil
}

func compact(data json.RawMessage) json.RawMessage {
	if data == nil {
		return nil
	}
	short, err := chat.Body(data) // a RawMessage is written compact
	if err != nil {
		return data
	}
	return short
}

func (i *importer) upload(ctx context.Context, room string, from chat.User, f File) (files.Stored, error) {
	content, err := i.o.Folder.Open(f.Path)
	if err != nil {
		return files.Stored{}, err
	}
	defer content.Close() //nolint:errcheck // it was only read
	info, err := content.Stat()
	if err != nil {
		return files.Stored{}, err
	}
	stored, err := i.o.Files.Begin(ctx, from, files.Upload{
		Room: room, Kind: cmp.Or(f.Kind, chat.OtherFile), Name: f.Name, Type: f.Type, Size: info.Size(), DurationMS: f.DurationMS, Wave: f.Wave,
	})
	if err != nil {
		return files.Stored{}, err
	}
	return i.o.Files.Receive(ctx, files.Transfer{User: from, Room: room, File: stored.ID, Content: content, More: func() {}})
}

// authors returns the authors of the texts that wait, by id, and creates those that are unknown.
func (i *importer) authors(ctx context.Context) (map[string]chat.User, error) {
	authors := map[string]chat.User{}
	var unknown []string
	for _, t := range i.texts {
		if _, ok := authors[t.From]; ok {
			continue
		}
		u, ok := i.names[t.From]
		if authors[t.From] = u; !ok {
			authors[t.From] = chat.User{ID: t.From}
			unknown = append(unknown, t.From)
		}
	}
	if len(unknown) == 0 {
		return authors, nil
	}
	if err := i.store.EnsureUsers(ctx, unknown); err != nil {
		return nil, err
	}
	found, err := i.chat.UserRecordsOf(ctx, unknown, nil)
	if len(i.names)+len(found) > namesKept {
		i.names = map[string]chat.User{}
	}
	for _, u := range found {
		authors[u.ID], i.names[u.ID] = u.User, u.User
	}
	return authors, err
}

func (i *importer) putMembers(ctx context.Context) error {
	room, ok := i.rooms[i.members[0].Room]
	if !ok {
		return fmt.Errorf("room %q has no line before", i.members[0].Room)
	}
	members, err := withoutErased(ctx, i, i.members, func(m Member) string { return m.User })
	if err != nil {
		return err
	}
	var users, admins []string
	for _, m := range members {
		switch m.Role {
		case "", chat.Plain, chat.Owner:
		case chat.Admin:
			admins = append(admins, m.User)
		default:
			return chat.BadField("role", "must be owner, admin or member")
		}
		if m.User != room.owner {
			users = append(users, m.User)
		}
	}
	if len(users) > 0 {
		i.at = time.Now()
		done, err := i.chat.AddMembers(ctx, room.id, users, false)
		if err != nil {
			return err
		}
		i.done.Members += len(users) - len(done.Refused)
		i.done.Refused += len(done.Refused)
	}
	for _, user := range admins {
		if err := i.chat.SetRole(ctx, chat.System, room.id, user, chat.Admin); err != nil && !errors.Is(err, chat.ErrNotFound) {
			return fmt.Errorf("make %s an admin: %w", user, err)
		}
	}
	return nil
}
