package chat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Message is a text to be sent. The tags are those of held texts in the store.
type Message struct {
	Room string `json:"room"`
	Key  string `json:"key"`
	Text string `json:"text"`

	Data     json.RawMessage `json:"data,omitempty"`     // a JSON object that the sending application defines, compact; nil: none
	ReplyTo  int64           `json:"reply_to,omitempty"` // seq of an entry of the room; 0: no reply
	Mentions []string        `json:"mentions,omitempty"` // ids of users
	Files    []string        `json:"files,omitempty"`    // ids of files that the sender has uploaded to the room

	MentionAll bool `json:"mention_all,omitempty"` // mentions all members of the room, besides Mentions; see Standing.MayMentionAll

	// What the host adds. The hash of the request does not cover it.
	Replaced *string  `json:"replaced,omitempty"` // the text to store in place of Text; nil: none
	Preview  *Preview `json:"preview,omitempty"`  // of a link of the stored text; nil: none
}

// CheckMessage returns an error if a field of the message is wrong. Send returns the same error, unless the message's key
// was used before.
func (s *Service) CheckMessage(m Message) error { return m.check(s.limits) }

func (m Message) check(l Limits) error {
	if err := CheckKey(m.Key); err != nil {
		return err
	}
	if err := checkID("room", m.Room); err != nil {
		return err
	}
	if m.Text == "" && m.Data == nil && len(m.Files) == 0 {
		return BadField("text", "is missing, and data and files too")
	}
	if err := checkOptional("text", m.Text, l.TextChars); err != nil {
		return err
	}
	if err := checkData(m.Data, l.DataBytes); err != nil {
		return err
	}
	if m.ReplyTo < 0 {
		return BadField("reply_to", "must be an entry of the room")
	}
	if err := checkFiles(m.Files, l.Files); err != nil {
		return err
	}
	return checkMentions(m.Mentions, l.Mentions)
}

func checkData(data json.RawMessage, limit int) error {
	switch {
	case data == nil:
		return nil
	case len(data) > limit:
		return &FieldError{Err: ErrTooLong, Field: "data", Reason: fmt.Sprintf("must have at most %d bytes", limit)}
	case len(data) == 0 || data[0] != '{' || !json.Valid(data):
		return BadField("data", "must be an object")
	}
	return nil
}

func checkMentions(users []string, limit int) error {
	if len(users) > limit {
		return &FieldError{Err: ErrLimitExceeded, Field: "mentions", Reason: fmt.Sprintf("must be at most %d", limit)}
	}
	for _, user := range users {
		if err := checkID("mentions", user); err != nil {
			return err
		}
	}
	return nil
}

// hash returns the hash of the message's content, to tell whether a repeated key comes with the same content.
func (m Message) hash() []byte {
	name, parts := "send", append([]string{m.Room, m.Text, string(m.Data), strconv.FormatInt(m.ReplyTo, 10)}, m.Mentions...)
	if len(m.Files) > 0 {
		name, parts = name+"_files", append(parts, strings.Join(m.Files, "/"))
	}
	if m.MentionAll {
		name += "_all"
	}
	return RequestHash(name, parts...)
}

// Receipt names the entry that records a message.
type Receipt struct {
	Seq int64
	ID  string
	At  time.Time
	Dup bool // the same message was sent with this key before
}

// Send appends a text to a room and publishes it. Users that have blocked the sender are not mentioned. A repeated key
// returns the first entry.
func (s *Service) Send(ctx context.Context, from User, m Message) (Receipt, error) {
	if err := s.unlessKeyUsed(ctx, from.ID, m.Key, m.check(s.limits)); err != nil {
		return Receipt{}, err
	}
	j, err := s.judge(ctx, written{room: m.Room, from: from, text: m.Stored(), hasFiles: len(m.Files) > 0})
	if err == nil && j.held != nil {
		err = &RuleError{Rule: j.held.Kind, Say: j.held.Say, Held: true}
	}
	err = s.unlessKeyUsed(ctx, from.ID, m.Key, err)
	if against := new(RuleError); errors.As(err, &against) && against.Held {
		err = cmp.Or(s.hold(ctx, from, m, against.Rule), err)
	}
	if err != nil {
		return Receipt{}, err
	}
	e, dup, err := s.appendText(ctx, from, m)
	if err != nil {
		return Receipt{}, err
	}
	if !dup {
		for _, rule := range j.reports {
			s.reportText(ctx, e, rule)
		}
	}
	return Receipt{Seq: e.Seq, ID: e.ID, At: e.At, Dup: dup}, nil
}

// Stored returns the text that is stored.
func (m Message) Stored() string {
	if m.Replaced != nil {
		return *m.Replaced
	}
	return m.Text
}

// appendText appends a text that may be sent, and publishes it.
func (s *Service) appendText(ctx context.Context, from User, m Message) (e Entry, dup bool, err error) {
	mentions, err := WithoutBlockers(ctx, s.store, from.ID, m.Mentions)
	if err != nil {
		return Entry{}, false, err
	}
	files, err := s.filesOf(ctx, from, m)
	if err := s.unlessKeyUsed(ctx, from.ID, m.Key, err); err != nil {
		return Entry{}, false, err
	}
	body, err := Body(Text{Text: m.Stored(), Data: m.Data, ReplyTo: m.ReplyTo, Mentions: mentions, Files: files, MentionAll: m.MentionAll, Preview: m.Preview})
	if err != nil {
		return Entry{}, false, err
	}
	if mentions = others(mentions, from.ID); m.MentionAll {
		mentions = nil // a user finds the text once
	}
	now := s.now()
	e, dup, err = s.store.Append(ctx, Draft{
		ID: s.newID(now), Room: m.Room, From: from, Kind: KindText, Key: m.Key,
		Hash: m.hash(), Body: body, At: now, ReplyTo: m.ReplyTo, Mentions: mentions, MentionAll: m.MentionAll, Files: m.Files,
	})
	s.NoteOutcome(m.Room, err)
	if err != nil {
		return Entry{}, false, err
	}
	if !dup {
		s.pub.Entry(e)
	}
	return e, dup, nil
}

// others returns each of the users once, without the given one.
func others(users []string, but string) []string {
	if len(users) == 0 {
		return nil
	}
	each := slices.Compact(slices.Sorted(slices.Values(users)))
	return slices.DeleteFunc(each, func(user string) bool { return user == but })
}

// Mentions lists texts of other users that mention the user, newest first; see Store.Mentions.
func (s *Service) Mentions(ctx context.Context, user, next string, limit int) (entries []Entry, more string, err error) {
	if limit, err = pageLimit(limit); err != nil {
		return nil, "", err
	}
	return s.store.Mentions(ctx, user, next, limit, pageBytes)
}

// History reads a page of one of the user's rooms, in ascending order. more reports whether there are entries beyond
// the page: newer ones if p.After is set, otherwise older ones.
func (s *Service) History(ctx context.Context, user, room string, p Page) (entries []Entry, more bool, err error) {
	switch {
	case p.Before != nil && p.After != nil:
		return nil, false, BadField("after", "must not come with before")
	case p.Before != nil && *p.Before < 0:
		return nil, false, BadField("before", "must not be negative")
	case p.After != nil && *p.After < 0:
		return nil, false, BadField("after", "must not be negative")
	case !slices.Contains([]FileKind{"", PictureFile, VoiceFile, OtherFile}, p.Files):
		return nil, false, BadField("files", "must be picture, voice or file")
	}
	if p.Limit, err = pageLimit(p.Limit); err != nil {
		return nil, false, err
	}
	p.MaxBytes = min(cmp.Or(p.MaxBytes, pageBytes), pageBytes)
	if err := s.mayRead(ctx, room, user); err != nil {
		return nil, false, err
	}
	return s.store.History(ctx, room, p)
}

// Read stores up to which entry the user has read. The position never moves back. In a small room it is published to
// all members, otherwise to the user's own devices.
func (s *Service) Read(ctx context.Context, user, room string, seq int64) (unread int64, err error) {
	if err := checkID("room", room); err != nil {
		return 0, err
	}
	if seq < 0 {
		return 0, BadField("seq", "must not be negative")
	}
	r, err := s.store.Read(ctx, room, user, seq, s.now())
	if err != nil {
		return 0, err
	}
	if moved := (ReadMoved{Room: room, User: user, Seq: r.Seq}); r.Moved && r.Members <= SmallRoom && s.shows(ctx, room, user) {
		s.pub.ToRoom(room, moved)
	} else if r.Moved {
		s.pub.ToUser(user, moved)
	}
	return r.Unread, nil
}

// shows reports whether the other members of a room may see what the user does in it without writing. The stranger that has opened a direct
// room may not, until the user has chosen the room. If the store fails, they may not.
func (s *Service) shows(ctx context.Context, room, user string) bool {
	direct, err := s.isDirect(ctx, room)
	if err != nil || !direct {
		return err == nil
	}
	unchosen, err := s.store.UnchosenDirect(ctx, user)
	return err == nil && !slices.Contains(unchosen, room)
}

// Body encodes v as the body of an entry; the type of v belongs to the entry's kind. It does not escape HTML: a body
// is never part of a page's source, and escapes would only make it longer.
func Body(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("make body: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

const (
	typingEvery = time.Second // the least time between two events of one user in one room, on this instance
	typingMost  = 10          // events that this instance publishes to one room within typingEvery
)

// Typing publishes to a room that the user is typing. It returns no error: an event that is not allowed is dropped.
func (s *Service) Typing(ctx context.Context, by User, room string) {
	now := s.now()
	if checkID("room", room) != nil || !s.typing.allowUser(memberKey{room, by.ID}, now) {
		return
	}
	st, err := s.Standing(ctx, room, by.ID)
	if err != nil || st.MaySend(now) != nil {
		return
	}
	if s.shows(ctx, room, by.ID) && s.typing.allowRoom(room, now) {
		s.pub.ToRoom(room, Typed{Room: room, User: by.ID})
	}
}

// typing limits how often typing events are published. It forgets what is older than typingEvery.
type typing struct {
	mu    sync.Mutex
	users map[memberKey]time.Time // guarded by mu; when the last event of each user in a room was allowed
	rooms map[string]*roomRate    // guarded by mu
	swept time.Time               // guarded by mu
}

// roomRate counts the events of a room, from the time since on.
type roomRate struct {
	since time.Time
	count int
}

// allowUser reports whether the user has sent no event within typingEvery, and records this one. Typing calls it first,
// then checks the standing, and calls allowRoom last. So users that may not send do not use up the room's rate.
func (t *typing) allowUser(at memberKey, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweepLocked(now)
	if last, ok := t.users[at]; ok && now.Sub(last) < typingEvery {
		return false
	}
	t.users[memberKey{strings.Clone(at.room), at.user}] = now
	return true
}

// allowRoom reports whether one more event may be published to the room.
func (t *typing) allowRoom(room string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rooms[room]
	if r == nil || now.Sub(r.since) >= typingEvery {
		r = &roomRate{since: now}
		t.rooms[strings.Clone(room)] = r
	}
	r.count++
	return r.count <= typingMost
}

func (t *typing) sweepLocked(now time.Time) {
	if now.Sub(t.swept) < typingEvery {
		return
	}
	t.swept = now
	for at, last := range t.users {
		if now.Sub(last) >= typingEvery {
			delete(t.users, at)
		}
	}
	for room, r := range t.rooms {
		if now.Sub(r.since) >= typingEvery {
			delete(t.rooms, room)
		}
	}
}
