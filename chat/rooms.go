package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"
)

// CreateRoom is a request to create a room. The kind defaults to Private.
type CreateRoom struct {
	Key     string
	Name    string
	Kind    RoomKind
	Members []string // besides the owner

	Invite    Inviters // "": the default of the kind
	NoGuests  bool     // guests cannot enter
	NoPackets bool     // users cannot send packets
}

// Rooms lists the rooms that the user is in. It also caches the user's standings in them, because the client is about
// to use them. Otherwise, when many users connect at the same time, each standing would be read on its own.
func (s *Service) Rooms(ctx context.Context, user string) ([]Membership, error) {
	return s.roomsOf(user, func() ([]Membership, error) { return s.store.Memberships(ctx, user) })
}

// roomsOf lists rooms of the user, and caches the user's standings in them.
func (s *Service) roomsOf(user string, list func() ([]Membership, error)) ([]Membership, error) {
	changes, until, users := s.standings.changes(), s.now().Add(standingFor), s.userChanges.of(user).Load()
	in, err := list()
	for _, m := range in {
		st := Standing{Ever: true, In: true, Role: m.Role, MutedUntil: m.MutedUntil, JoinedSeq: m.JoinedSeq, SelfLimited: m.SelfLimited}
		s.standings.putIfUnchanged(memberKey{m.Room.ID, user}, heldStanding{st, until, users}, changes)
	}
	return in, err
}

// RoomsPage lists a page of the rooms that the user is in, newest room first. next is the cursor of the page; "" is the first
// page. more is the cursor of the following page; "" if there is none. A page may have fewer rooms than the limit, although another one follows.
func (s *Service) RoomsPage(ctx context.Context, user, next string, limit int) (page []Membership, more string, err error) {
	if limit, err = pageLimit(limit); err != nil {
		return nil, "", err
	}
	if next != "" {
		if err := checkID("next", next); err != nil {
			return nil, "", err
		}
	}
	page, err = s.roomsOf(user, func() (in []Membership, err error) {
		in, more, err = s.store.MembershipsPage(ctx, user, next, limit)
		return in, err
	})
	return page, more, err
}

// NewestRooms returns the first page of the memberships that Service.Rooms has listed: see RoomsPage. It does not change the list.
func NewestRooms(in []Membership, limit int) (page []Membership, more string) {
	newest := slices.Clone(in)
	slices.SortFunc(newest, func(a, b Membership) int { return cmp.Compare(b.Room.ID, a.Room.ID) }) // ids grow with time
	if len(newest) <= limit {
		return newest, ""
	}
	return newest[:limit], newest[limit-1].Room.ID
}

// CreateRoom creates a room and publishes it to its members. A repeated key returns the room that its first use
// created.
func (s *Service) CreateRoom(ctx context.Context, owner User, r CreateRoom) (m Membership, dup bool, err error) {
	r.Kind = cmp.Or(r.Kind, Private)
	fault := s.CheckCreateRoom(owner.ID, r)
	if err := s.unlessKeyUsed(ctx, owner.ID, r.Key, fault); err != nil {
		return Membership{}, false, err
	}
	name := ""
	if fault == nil { // otherwise no room is created, because the key is used
		name, _ = NormalName(r.Name)
	}
	if err := s.SignIn(ctx, owner); err != nil {
		return Membership{}, false, err
	}
	now := s.now()
	room := NewRoom{
		ID: s.newID(now), Name: name, Kind: r.Kind, Owner: owner, Members: r.others(owner.ID),
		Invite: r.Invite, NoGuests: r.NoGuests, NoPackets: r.NoPackets, Key: r.Key, Hash: r.hash(),
		At: now, MaxRooms: s.limits.Rooms, MaxPublic: s.limits.PublicRooms,
	}
	if m, dup, err = s.store.CreateRoom(ctx, room); err != nil || dup {
		return m, dup, err
	}
	s.pub.ToUser(owner.ID, Entered{Membership: m})
	for _, user := range room.Members {
		s.pub.ToUser(user, Entered{Membership: Membership{Room: m.Room, Role: Plain}})
	}
	return m, false, nil
}

// CheckCreateRoom returns the error of CreateRoom that is known without the store, or nil.
func (s *Service) CheckCreateRoom(owner string, r CreateRoom) error {
	r.Kind = cmp.Or(r.Kind, Private)
	return r.check(owner, s.limits)
}

// others returns the initial members without the owner and without repetitions.
func (r CreateRoom) others(owner string) []string {
	var users []string
	for _, u := range r.Members {
		if u != owner && !slices.Contains(users, u) {
			users = append(users, u)
		}
	}
	return users
}

// hash returns the hash of the request's content, to tell whether a repeated key comes with the same content.
func (r CreateRoom) hash() []byte {
	inviters := cmp.Or(r.Invite, r.Kind.Inviters())
	return RequestHash(r.hashed("create_room"), append([]string{r.Name, string(r.Kind), string(inviters), strconv.FormatBool(r.NoGuests)}, r.Members...)...)
}

// hashed returns the name under which the request is hashed. A room with packets is hashed without the field, as versions that
// do not know the field hash it.
func (r CreateRoom) hashed(name string) string {
	if r.NoPackets {
		return name + " without packets"
	}
	return name
}

func (r CreateRoom) check(owner string, l Limits) error {
	if err := CheckKey(r.Key); err != nil {
		return err
	}
	if _, err := checkName(r.Name, l.NameChars); err != nil {
		return err
	}
	if r.Kind != Public && r.Kind != Private {
		return BadField("kind", "must be public or private")
	}
	if len(r.Members) > l.InviteUsers {
		return &FieldError{Err: ErrLimitExceeded, Field: "members", Reason: fmt.Sprintf("must be at most %d", l.InviteUsers)}
	}
	for _, user := range r.Members {
		if err := checkID("members", user); err != nil {
			return err
		}
	}
	if err := r.Invite.check(); err != nil {
		return err
	}
	room := Room{NoGuests: r.NoGuests}
	for _, user := range append([]string{owner}, r.Members...) {
		if err := room.admit(user); err != nil {
			return err
		}
	}
	return nil
}

// FindRooms lists public rooms whose name matches query (words.Match), newest first. A query that is the id of such a room finds that room alone.
func (s *Service) FindRooms(ctx context.Context, query, next string, limit int) (rooms []Room, more string, err error) {
	if err := checkOptional("query", query, s.limits.NameChars); err != nil {
		return nil, "", err
	}
	if limit, err = pageLimit(limit); err != nil {
		return nil, "", err
	}
	if query != "" && next == "" {
		switch r, err := s.publicRoom(ctx, query); {
		case err == nil:
			return []Room{r}, "", nil
		case !errors.Is(err, ErrNotFound):
			return nil, "", err
		}
	}
	return s.store.FindRooms(ctx, norm.NFC.String(query), next, limit) // as names are stored
}

// PublicRoom returns a room that any user can find: a public one that has members. Every other id is ErrNotFound.
func (s *Service) PublicRoom(ctx context.Context, room string) (Room, error) {
	if err := checkID("room", room); err != nil {
		return Room{}, err
	}
	return s.publicRoom(ctx, room)
}

func (s *Service) publicRoom(ctx context.Context, room string) (Room, error) {
	r, err := s.store.Room(ctx, room)
	if err == nil && (r.Kind != Public || r.Deleted || r.Members == 0) {
		return Room{}, ErrNotFound
	}
	return r, err
}

// Join adds the user to a public room, or to a private room that the user has left. A repeated Join returns the same
// result.
func (s *Service) Join(ctx context.Context, u User, room string) (Membership, error) {
	if err := checkID("room", room); err != nil {
		return Membership{}, err
	}
	if err := s.SignIn(ctx, u); err != nil {
		return Membership{}, err
	}
	m, changed, err := s.store.Join(ctx, Joining{
		Room: room, User: u.ID, At: s.now(), MaxRooms: s.limits.Rooms, MaxMembers: s.limits.RoomMembers,
	})
	s.Forget(room, u.ID) // also after an error: the outcome may be unknown
	s.announceStandings(room, err, u.ID)
	var setting *FieldError // names the setting that forbids the join; without a FieldError the room is private or direct
	if errors.Is(err, ErrForbidden) && !errors.As(err, &setting) {
		return s.rejoin(ctx, u, room)
	}
	if err != nil || !changed {
		return m, err
	}
	s.pub.ToUser(u.ID, Entered{Membership: m})
	s.memberCounts.changed(room, m.Room.Members)
	return m, nil
}

// Refusal returns an error unless a user with this standing may join the room. The user must not be a member. A user that
// never was a member gets ErrNotFound for a private or direct room. Before a Store adds the user, it calls Refusal while it
// holds the room locked.
func (j Joining) Refusal(room Room, st Standing) error {
	st = st.At(j.At)
	switch {
	case room.Deleted:
		return ErrNotFound
	case st.Banned:
		return ErrBanned
	case room.Kind != Public && !st.Ever:
		return ErrNotFound
	case room.Kind != Public:
		return ErrForbidden
	case room.Members >= j.MaxMembers:
		return ErrLimitExceeded
	}
	return room.admit(j.User)
}

// rejoin brings the user back to a private room that the user has left.
func (s *Service) rejoin(ctx context.Context, u User, room string) (Membership, error) {
	if _, err := s.change(ctx, Change{Kind: Rejoin, Room: room, By: u, Users: []string{u.ID}}); err != nil {
		return Membership{}, err
	}
	return s.store.Membership(ctx, room, u.ID)
}

// Leave removes the user from a room. A repeated Leave succeeds.
func (s *Service) Leave(ctx context.Context, u User, room string) error {
	if err := checkID("room", room); err != nil {
		return err
	}
	now := s.now()
	left, err := s.store.Leave(ctx, Leaving{Room: room, User: u, At: now, EntryIDs: [2]string{s.newID(now), s.newID(now)}})
	s.Forget(room, u.ID) // also after an error: the outcome may be unknown
	s.announceStandings(room, err, u.ID)
	s.NoteOutcome(room, err)
	switch {
	case errors.Is(err, ErrUnavailable), err == nil && !left.Changed:
		s.announceOwner(context.WithoutCancel(ctx), room) // ctx may have ended while the outcome became unknown
		return err
	case err != nil:
		return err
	}
	s.publishLeft(room, u.ID, left)
	return nil
}

// publishLeft publishes that the user has left the room.
func (s *Service) publishLeft(room, user string, left Left) {
	if left.NewOwner != "" {
		s.tellChanged(room, left.NewOwner)
	}
	for _, e := range left.Entries {
		s.pub.Entry(e)
	}
	s.pub.ToUser(user, Exited{Room: room, Reason: "left", Through: left.through()})
	s.memberCounts.changed(room, left.Room.Members)
}

// announceOwner makes all instances drop the cached standing of the room's owner. A Leave with an unknown outcome may have made
// that member the owner. If the store does not answer here either, or commits only later, a repeated Leave
// tells the instances.
func (s *Service) announceOwner(ctx context.Context, room string) {
	if first, _, err := s.store.Members(ctx, room, "", 1); err == nil && len(first) > 0 {
		s.tellChanged(room, first[0].User.ID)
	}
}

// through returns the seq of the entry that records the leaving, or 0 if there is none.
func (l Left) through() int64 {
	if l.Room.Kind == Public || len(l.Entries) == 0 {
		return 0
	}
	return l.Entries[0].Seq
}

// Members lists the members of one of the user's rooms, owner and admins first. Of a stranger it leaves out the name, the
// avatar and the read position.
func (s *Service) Members(ctx context.Context, user, room, next string, limit int) (members []Member, more string, err error) {
	if limit, err = pageLimit(limit); err != nil {
		return nil, "", err
	}
	if err := s.mayRead(ctx, room, user); err != nil {
		return nil, "", err
	}
	members, more, err = s.store.Members(ctx, room, next, limit)
	if err != nil || len(members) > 2 || user == System.ID {
		return members, more, err
	}
	strangers, err := s.store.Strangers(ctx, room, user)
	for i, m := range members {
		if slices.Contains(strangers, m.User.ID) {
			members[i].User, members[i].ReadSeq, members[i].Stranger = User{ID: m.User.ID}, 0, true
		}
	}
	return members, more, err
}

// Pairing is a request for the direct room of two users.
type Pairing struct {
	ID       string // id for the room, if it does not exist yet
	User     User
	Other    string
	At       time.Time
	EntryID  string
	MaxRooms int // limit: rooms that a user may be in: chosen ones for User, not chosen ones for Other
}

// Pair returns one name for the two users. It is the same whichever of them sends the request.
func (p Pairing) Pair() string {
	return min(p.User.ID, p.Other) + " " + max(p.User.ID, p.Other)
}

// Paired is the result of Store.Direct: the room as the requesting user sees it.
type Paired struct {
	Membership Membership
	Entered    []string // new members; both users if the room is new
	Entries    []Entry  // the entry that records that the requesting user came back; empty otherwise
}

// Direct returns the direct room of two users. It creates the room if there is none, and adds u if u has left. If the
// other user has left, that user stays out until that user calls Direct.
func (s *Service) Direct(ctx context.Context, u User, other string) (Membership, error) {
	if err := s.CheckDirect(u.ID, other); err != nil {
		return Membership{}, err
	}
	if err := s.SignIn(ctx, u); err != nil {
		return Membership{}, err
	}
	now := s.now()
	done, err := s.store.Direct(ctx, Pairing{
		ID: s.newID(now), User: u, Other: other, At: now, EntryID: s.newID(now), MaxRooms: s.limits.Rooms,
	})
	if errors.Is(err, ErrUnavailable) { // the user may have come back to the room, whose id is unknown here
		s.standings.clear()
		s.announceStandings("", err, u.ID, other)
	}
	if err != nil {
		return Membership{}, err
	}
	s.Forget(done.Membership.Room.ID, u.ID)
	s.Forget(done.Membership.Room.ID, other)
	s.announceStandings(done.Membership.Room.ID, nil, u.ID, other)
	s.publishPaired(done)
	return done.Membership, nil
}

// CheckDirect returns the error of Direct that is known without the store, or nil.
func (s *Service) CheckDirect(user, other string) error {
	if err := checkID("user", other); err != nil {
		return err
	}
	if other == user {
		return BadField("user", "must be another one")
	}
	return nil
}

func (s *Service) publishPaired(done Paired) {
	room := done.Membership.Room
	s.publishEntered(done.Entered, room, Plain, done.Entries)
	for _, e := range done.Entries {
		s.pub.Entry(e)
	}
	if len(done.Entered) > 0 {
		s.memberCounts.changed(room.ID, room.Members)
	}
}

// countEvery is about the least time between two publications of a room's number of members by this instance.
const countEvery = time.Second

// memberCounts publishes the number of members of rooms. The first change is published at once. Changes within
// countEvery after that are published together at its end. A room uses memory until an interval of countEvery has passed
// without a change.
type memberCounts struct {
	// static
	store Store
	pub   Publisher
	log   *slog.Logger

	mu      sync.Mutex
	rooms   map[string]bool // guarded by mu; rooms within countEvery of a publication; true: their count has changed since
	stopped bool            // guarded by mu
	reads   sync.WaitGroup  // reads of the store; none begins once stopped
}

func (c *memberCounts) changed(room string, count int) {
	if !c.startInterval(room) {
		return
	}
	c.pub.ToRoom(room, MembersCounted{Room: room, Count: count})
	time.AfterFunc(countEvery, func() { c.recount(room) })
}

// startInterval reports whether the caller must publish the count now. If not, the count is published at the end of
// the room's running interval, or never after stop.
func (c *memberCounts) startInterval(room string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	if _, recent := c.rooms[room]; recent {
		c.rooms[room] = true
		return false
	}
	c.rooms[room] = false
	return true
}

// recount is called at the end of an interval. If the count has changed since it was published, recount reads it from the
// store and publishes it. It does not use the count that came with a change: of several changes at the same time, the last
// one that arrives here need not be the last one that was committed.
func (c *memberCounts) recount(room string) {
	if !c.nextInterval(room) {
		return
	}
	defer c.reads.Done()
	time.AfterFunc(countEvery, func() { c.recount(room) })
	ctx, cancel := context.WithTimeout(context.Background(), countEvery)
	defer cancel()
	r, err := c.store.Room(ctx, room)
	if err != nil {
		c.log.Warn("members not counted", "room", room, "err", err)
		return
	}
	c.pub.ToRoom(room, MembersCounted{Room: room, Count: r.Members})
}

// nextInterval is called at the end of an interval. If the count has changed since it was published, it begins another
// interval and returns true; the caller must then call reads.Done. Otherwise it forgets the room.
func (c *memberCounts) nextInterval(room string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || !c.rooms[room] {
		delete(c.rooms, room)
		return false
	}
	c.rooms[room] = false
	c.reads.Add(1)
	return true
}

// stop prevents further reads of the store and publications of counts, and blocks until no read is under way.
func (c *memberCounts) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.reads.Wait()
}
