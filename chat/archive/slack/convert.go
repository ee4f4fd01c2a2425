package slack

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"hongbao/chat"
	"hongbao/chat/archive"
)

// fileBytes bounds a JSON file of the export: those of a day have some megabytes at most.
const fileBytes = 256 << 20

// Options configures a conversion.
type Options struct {
	IDs    map[string]string // the ids of users in your product, by those in Slack; others keep those of Slack
	Limits chat.Limits       // longer texts are split
}

// Done counts what was converted.
type Done struct {
	Users, Rooms, Texts int

	Notes     int // notes of Slack, such as that somebody has joined: they are left out
	Reactions int // reactions with emojis that have no equal here: they are left out
	Empty     int // messages without an author, a time or a text: they are left out
}

// converter is the state of one conversion.
type converter struct {
	zip      *zip.Reader
	o        Options
	to       *archive.Writer
	users    map[string]string // names by ids in Slack
	channels map[string]string // names by ids
	done     Done
}

// lists are the files that describe rooms.
var lists = []struct {
	file string
	kind chat.RoomKind
}{{"channels.json", chat.Public}, {"groups.json", chat.Private}, {"mpims.json", chat.Private}, {"dms.json", chat.Direct}}

// Convert writes the archive of an export. The users, rooms and texts keep their ids, so the archive of a newer export of the same workspace adds what
// is new.
func Convert(export *zip.Reader, to io.Writer, o Options) (Done, error) {
	c := &converter{zip: export, o: o, to: archive.NewWriter(to), users: map[string]string{}, channels: map[string]string{}}
	if err := c.writeUsers(); err != nil {
		return c.done, err
	}
	rooms := map[chat.RoomKind][]channel{}
	for _, l := range lists {
		found, err := readList[channel](c, l.file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c.done, err
		}
		for _, room := range found {
			c.channels[room.ID] = room.Name
		}
		rooms[l.kind] = append(rooms[l.kind], found...)
	}
	for _, kind := range []chat.RoomKind{chat.Public, chat.Private, chat.Direct} {
		for _, room := range rooms[kind] {
			if err := c.room(room, kind); err != nil {
				return c.done, fmt.Errorf("channel %s: %w", cmp.Or(room.Name, room.ID), err)
			}
		}
	}
	return c.done, nil
}

// readList reads a file of the export, which is a list.
func readList[T any](c *converter, name string) ([]T, error) {
	file, err := c.zip.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(file, fileBytes+1))
	if err == nil && len(data) > fileBytes {
		err = fmt.Errorf("has more than %d bytes", fileBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	all, err := decode[T](data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

func (c *converter) writeUsers() error {
	users, err := readList[slackUser](c, "users.json")
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("users.json is missing: is this the zip file of a Slack export?")
	}
	if err != nil {
		return err
	}
	for _, u := range users {
		name := c.name(cmp.Or(u.Profile.DisplayName, u.Profile.RealName, u.Name))
		c.users[u.ID] = name
		if err := c.to.User(archive.User{ID: c.id(u.ID), Name: name, Avatar: u.Profile.Image}); err != nil {
			return err
		}
		c.done.Users++
	}
	return nil
}

// id returns the id of a user in the product.
func (c *converter) id(user string) string { return cmp.Or(c.o.IDs[user], user) }

// nameOf returns the name of a user, by the id in Slack.
func (c *converter) nameOf(user string) string { return cmp.Or(c.users[user], user) }

// name returns the text as a name that is not refused.
func (c *converter) name(text string) string {
	name, _ := chat.NormalName(text)
	if all := []rune(name); len(all) > c.o.Limits.NameChars {
		name, _ = chat.NormalName(string(all[:c.o.Limits.NameChars]))
	}
	return name
}

func (c *converter) room(r channel, kind chat.RoomKind) error {
	line := archive.Room{ID: r.ID, Kind: kind, At: r.Created * 1000}
	if kind == chat.Direct {
		if len(r.Members) != 2 || r.Members[0] == r.Members[1] {
			return nil // notes of a user to themselves
		}
		line.Users = []string{c.id(r.Members[0]), c.id(r.Members[1])}
	} else {
		owner := r.Creator
		if len(r.Members) > 0 && !slices.Contains(r.Members, owner) {
			owner = r.Members[0]
		}
		if owner == "" {
			return nil // nobody is there, and nobody was
		}
		line.Owner, line.Name = c.id(owner), cmp.Or(c.name(r.Name), r.ID)
		topic, _ := c.plain(cmp.Or(r.Topic.Value, r.Purpose.Value))
		line.Announcement = pieces(topic, c.o.Limits.AnnouncementChars)[0]
	}
	if err := c.to.Room(line); err != nil {
		return err
	}
	c.done.Rooms++
	if err := c.texts(r.ID, cmp.Or(r.Name, r.ID)); err != nil {
		return err
	}
	for _, user := range r.Members {
		if kind == chat.Direct {
			break
		}
		if err := c.to.Member(archive.Member{Room: r.ID, User: c.id(user)}); err != nil {
			return err
		}
	}
	return nil
}

// texts writes the texts of a channel, day by day.
func (c *converter) texts(room, folder string) error {
	days, err := fs.ReadDir(c.zip, folder)
	if errors.Is(err, fs.ErrNotExist) || !fs.ValidPath(folder) {
		return nil // nothing was said there
	}
	if err != nil {
		return err
	}
	for _, day := range days { // sorted by name, which is the date
		if day.IsDir() || path.Ext(day.Name()) != ".json" {
			continue
		}
		messages, err := readList[message](c, path.Join(folder, day.Name()))
		if err != nil {
			return err
		}
		slices.SortStableFunc(messages, func(a, b message) int {
			x, _ := millis(a.TS)
			y, _ := millis(b.TS)
			return cmp.Or(cmp.Compare(x, y), strings.Compare(a.TS, b.TS))
		})
		for i := range messages {
			if err := c.text(room, &messages[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *converter) text(room string, m *message) error {
	at, ok := millis(m.TS)
	shown, mentions := c.plain(m.words())
	switch {
	case m.Type != "message" || !saidBySomebody[m.Subtype]:
		c.done.Notes++
		return nil
	case !ok || m.author() == "" || strings.TrimSpace(shown) == "":
		c.done.Empty++
		return nil
	}
	line := archive.Text{Room: room, From: c.id(m.author()), Name: c.name(m.Username), At: at, Reactions: c.reactions(m)}
	if m.ThreadTS != m.TS {
		line.ReplyTo = m.ThreadTS
	}
	if m.Edited != nil {
		line.EditedAt, _ = millis(m.Edited.TS)
	}
	line.Mentions = mentions[:min(len(mentions), c.o.Limits.Mentions)]
	for n, piece := range pieces(shown, c.o.Limits.TextChars) {
		line.ID, line.Text = m.TS, piece
		if n > 0 {
			line.ID, line.Reactions, line.Mentions = fmt.Sprintf("%s/%d", m.TS, n+1), nil, nil
		}
		if err := c.to.Text(line); err != nil {
			return err
		}
		c.done.Texts++
	}
	return nil
}

// reactions returns the users that have reacted to the message, by emoji.
func (c *converter) reactions(m *message) map[string][]string {
	all := map[string][]string{}
	for _, r := range m.Reactions {
		name, _, _ := strings.Cut(r.Name, "::") // a tone of skin follows
		emoji := emojis[name]
		if emoji == "" {
			c.done.Reactions += len(r.Users)
			continue
		}
		for _, user := range r.Users {
			if !slices.Contains(all[emoji], c.id(user)) {
				all[emoji] = append(all[emoji], c.id(user))
			}
		}
	}
	return all
}
