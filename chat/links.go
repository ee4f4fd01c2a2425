package chat

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Link is an invite link of a room. A user that has the link's code may enter the room, as if the link's creator had invited
// that user.
type Link struct {
	Room      string
	ID        string // a hash of the secret in the code
	Creator   User
	CreatedAt time.Time
	ExpiresAt time.Time

	MaxUses  int  // how many users may enter by it, or ask to; 0: any number
	Uses     int  // how many users have entered or asked so far
	Approval bool // users that come by it only ask to enter; the owner or an admin decides
}

// LinkState is a link with its creator's standing, on which it depends whether the link works.
type LinkState struct {
	Link

	By Standing // of the creator
}

// works reports whether users may enter the room by the link. A link works only while its creator may invite.
func (l LinkState) works(room Room, now time.Time) bool {
	return now.Before(l.ExpiresAt) && (l.MaxUses == 0 || l.Uses < l.MaxUses) && room.mayInvite(l.By, now) == nil
}

// errNoLink is the error for a code by which no user can enter. It is the same for all causes, so it does not reveal which
// rooms exist.
var errNoLink = &FieldError{Err: ErrNotFound, Field: "code", Reason: "leads nowhere: the link has expired, was used up or revoked, or its creator may no longer invite"}

const (
	secretBytes   = 15
	linkTTL       = 7 * 24 * time.Hour
	linkMaxTTL    = 365 * 24 * time.Hour
	linksPerRoom  = 50
	previewPeople = 5
)

// linkSecret is the random part of a link's code.
type linkSecret [secretBytes]byte

// newSecret draws the secret of a new link.
func newSecret() (s linkSecret) {
	_, _ = rand.Read(s[:]) // never fails: crypto/rand stops the process instead
	return s
}

// code returns the code of a link: the id of the room, a dot, and the secret. Because the code names the room, a link can be
// stored beside its room when rooms are spread over several databases.
func (s linkSecret) code(room string) string { return room + "." + s.text() }

// id returns the id of the link with this secret.
func (s linkSecret) id() string {
	sum := sha256.Sum256([]byte(s.text()))
	return hex.EncodeToString(sum[:16])
}

func (s linkSecret) text() string { return base64.RawURLEncoding.EncodeToString(s[:]) }

// sealed encrypts or decrypts the secret by XOR with a pad. The pad is a hash over the room, the user, the request's key
// and the link's id, so it differs for each link. A repeated request decrypts the stored secret to return the same code.
// The store has only a hash of the key. So no code can be read from the table alone, as long as keys are random.
func (s linkSecret) sealed(link, by string, r CreateLink) linkSecret {
	pad := RequestHash("create_link code", r.Room, by, r.Key, link)
	for i := range s {
		s[i] ^= pad[i]
	}
	return s
}

// splitCode returns the room and the id of the link with this code. ok is false if the text does not have the form of a code.
func splitCode(code string) (room, link string, ok bool) {
	at := strings.LastIndexByte(code, '.')
	if at < 0 || len(code)-at-1 != base64.RawURLEncoding.EncodedLen(secretBytes) || checkID("code", code[:at]) != nil {
		return "", "", false
	}
	sum := sha256.Sum256([]byte(code[at+1:]))
	return code[:at], hex.EncodeToString(sum[:16]), true
}

// CreateLink is a request to create a link of a room.
type CreateLink struct {
	Room    string
	Key     string        // identifies the request while its link exists; "": a repeated request makes another link
	TTL     time.Duration // 0: a week
	MaxUses int           // 0: any number

	Approval bool
}

// NewLink is a link to be stored.
type NewLink struct {
	Link

	Request    []byte // hash of the creator and the request's key; nil: the request has no key
	SealedCode []byte // the secret of the code, encrypted with the request's key (sealed); nil: the request has no key
	Most       int    // limit: links of the room that have neither expired nor are used up
}

// Repeats returns an error unless l requests the same link as first. Both have the same Request. A Store calls Repeats before
// Refusal.
func (l NewLink) Repeats(first Link) error {
	if l.MaxUses != first.MaxUses || l.Approval != first.Approval || l.ExpiresAt.Sub(l.CreatedAt) != first.ExpiresAt.Sub(first.CreatedAt) {
		return ErrKeyReused
	}
	return nil
}

// Refusal returns an error unless a user with this standing may create the link in the room. The room has this number of other
// links. A Store calls Refusal while it holds the room locked.
func (l NewLink) Refusal(room Room, by Standing, others int) error {
	if room.Deleted {
		return ErrNotFound
	}
	if err := room.mayInvite(by, l.CreatedAt); err != nil {
		return err
	}
	if others >= l.Most {
		return &FieldError{Err: ErrLimitExceeded, Field: "room", Reason: fmt.Sprintf("has %d links: revoke one", others), Limit: l.Most}
	}
	return nil
}

// mayInvite returns an error unless a member with this standing may let users into the room at the time now.
func (r Room) mayInvite(by Standing, now time.Time) error {
	if err := by.MaySend(now); err != nil { // a muted member may not invite either
		return err
	}
	switch {
	case r.Kind == Direct:
		return ErrForbidden
	case r.Inviters() == AdminsInvite && by.Role.rank() < Admin.rank():
		return &FieldError{Err: ErrForbidden, Field: "invite", Reason: "is admins: ask the owner or an admin to invite"}
	}
	return nil
}

// CheckCreateLink returns the error of CreateLink that is known without the store, or nil.
func (s *Service) CheckCreateLink(r CreateLink) error {
	switch {
	case r.TTL < 0:
		return BadField("ttl_s", "must not be negative")
	case r.TTL > linkMaxTTL:
		return &FieldError{Err: ErrLimitExceeded, Field: "ttl_s", Reason: "must be at most a year", Limit: int(linkMaxTTL / time.Second)}
	case r.MaxUses < 0:
		return BadField("max_uses", "must not be negative")
	case r.MaxUses > s.limits.RoomMembers:
		return &FieldError{Err: ErrLimitExceeded, Field: "max_uses", Reason: "are more than the room holds", Limit: s.limits.RoomMembers}
	}
	if r.Key != "" {
		if err := CheckKey(r.Key); err != nil {
			return err
		}
	}
	return checkID("room", r.Room)
}

// MadeLink is the result of CreateLink.
type MadeLink struct {
	Link

	Code string
	Dup  bool // an earlier request with the same key has created the link
}

// CreateLink creates a link of a room. Only CreateLink returns the code: the store has a hash of it and, if the request has a
// key, an encrypted copy. A repeated request with a key returns the same link, if that link still exists.
func (s *Service) CreateLink(ctx context.Context, by User, r CreateLink) (MadeLink, error) {
	if err := s.CheckCreateLink(r); err != nil {
		return MadeLink{}, err
	}
	secret := newSecret()
	now := s.now().Truncate(time.Millisecond).UTC() // as stored
	l := NewLink{
		Link: Link{
			Room: r.Room, ID: secret.id(), Creator: by, CreatedAt: now, ExpiresAt: now.Add(cmp.Or(r.TTL, linkTTL)), MaxUses: r.MaxUses, Approval: r.Approval,
		},
		Most: linksPerRoom,
	}
	if r.Key != "" {
		sealed := secret.sealed(l.ID, by.ID, r)
		l.Request, l.SealedCode = RequestHash("create_link", r.Room, by.ID, r.Key), sealed[:]
	}
	stored, err := s.store.CreateLink(ctx, l)
	if err != nil {
		return MadeLink{}, err
	}
	if stored.ID == l.ID {
		return MadeLink{Link: l.Link, Code: secret.code(r.Room)}, nil
	}
	if len(stored.SealedCode) != secretBytes {
		return MadeLink{}, fmt.Errorf("link %s of room %s: its sealed code has %d bytes, need %d", stored.ID, r.Room, len(stored.SealedCode), secretBytes)
	}
	secret = linkSecret(stored.SealedCode).sealed(stored.ID, by.ID, r)
	return MadeLink{Link: stored.Link, Code: secret.code(r.Room), Dup: true}, nil
}

// Links lists the links of a room that have not expired, newest first: to the owner and admins all of them, to other members
// their own.
func (s *Service) Links(ctx context.Context, user, room string) ([]Link, error) {
	creator, err := s.linksOf(ctx, user, room)
	if err != nil {
		return nil, err
	}
	return s.store.Links(ctx, room, creator, s.now())
}

// RevokeLink ends a link. The owner and admins may revoke each link of the room, other members their own. If the user can see
// no such link, RevokeLink changes nothing and succeeds.
func (s *Service) RevokeLink(ctx context.Context, user, room, link string) error {
	if err := checkID("link", link); err != nil {
		return err
	}
	creator, err := s.linksOf(ctx, user, room)
	if err != nil {
		return err
	}
	return s.store.DeleteLink(ctx, room, link, creator)
}

// linksOf returns the creator whose links of the room the user may see; "": the user may see all links.
func (s *Service) linksOf(ctx context.Context, user, room string) (creator string, err error) {
	if err := checkID("room", room); err != nil {
		return "", err
	}
	st, err := s.Standing(ctx, room, user)
	if err == nil {
		err = st.MayRead()
	}
	if err != nil || st.Role.rank() >= Admin.rank() {
		return "", err
	}
	return user, nil
}

// JoinByLink adds the user to the room of the link with this code. If the link needs approval, waiting is true: the user asks
// to enter from now on. A user that is a member already gets the room even if the link no longer works, because a request
// may be repeated after its reply was lost.
func (s *Service) JoinByLink(ctx context.Context, u User, code string) (m Membership, waiting bool, err error) {
	room, link, ok := splitCode(code)
	if !ok {
		return Membership{}, false, errNoLink
	}
	if err := s.SignIn(ctx, u); err != nil {
		return Membership{}, false, err
	}
	done, err := s.change(ctx, Change{Kind: JoinLink, Room: room, By: u, Users: []string{u.ID}, Link: link})
	switch {
	case errors.Is(err, ErrNotFound):
		return Membership{}, false, errNoLink
	case err != nil:
		return Membership{}, false, err
	}
	m, err = s.store.Membership(ctx, room, u.ID)
	if len(done.Entered) > 0 || !errors.Is(err, ErrNotMember) {
		return m, false, err
	}
	if done.Changed {
		s.publishRequests(ctx, room)
	}
	return Membership{}, true, nil
}

// Invitation is what a link shows to anyone that has its code.
type Invitation struct {
	Room   Room
	By     User   // the creator of the link
	Asks   bool   // users that come by the link ask to enter
	People []User // a few members, the owner and admins first
}

// Invitation returns what the link with this code leads to. LobbyHost is neither named nor counted.
func (s *Service) Invitation(ctx context.Context, code string) (in Invitation, err error) {
	room, id, ok := splitCode(code)
	if !ok {
		return Invitation{}, errNoLink
	}
	l, err := s.store.Link(ctx, room, id)
	if err == nil {
		in.Room, err = s.store.Room(ctx, room)
	}
	switch {
	case errors.Is(err, ErrNotFound), err == nil && (in.Room.Deleted || !l.works(in.Room, s.now())):
		return Invitation{}, errNoLink
	case err != nil:
		return Invitation{}, err
	}
	members, _, err := s.store.Members(ctx, room, "", previewPeople+1) // one of them may be LobbyHost
	for _, m := range members {
		if m.User.ID == LobbyHost {
			in.Room.Members--
			continue
		}
		in.People = append(in.People, m.User)
	}
	in.People = in.People[:min(len(in.People), previewPeople)]
	in.By, in.Asks = l.Creator, l.Approval
	return in, err
}
