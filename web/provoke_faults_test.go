package web

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
)

// faults holds the error with which the stores of a test answer every call, if one is set.
type faults struct{ err atomic.Pointer[error] }

// errBug is a fault for which FindRooms and PutUser panic. The other calls succeed: some of them run outside any request, where a panic
// ends the process.
var errBug = errors.New("a bug")

// set sets the fault; nil removes it.
func (f *faults) set(err error) { f.err.Store(&err) }

func (f *faults) fault() error {
	err := f.err.Load()
	switch {
	case err == nil, errors.Is(*err, errBug):
		return nil
	}
	return *err
}

// faultOfCommand is the fault of a call that runs for a request only.
func (f *faults) faultOfCommand() error {
	if err := f.err.Load(); err != nil && errors.Is(*err, errBug) {
		panic(errBug)
	}
	return f.fault()
}

// faulty wraps the stores so that they fail while the returned faults hold an error.
func (engines *testEngines) faulty() *faults {
	f := &faults{}
	engines.store = &watchedStore{Store: faultyStore{engines.store.Store, f}}
	engines.ledger = faultyLedger{engines.ledger, f}
	engines.files = faultyFiles{engines.files, f}
	return f
}

// faultyFiles are real rows of files, but the calls that commands make fail while a fault is set.
type faultyFiles struct {
	files.Rows
	*faults
}

func (s faultyFiles) AddFile(ctx context.Context, f files.Stored, most int64) error {
	if err := s.fault(); err != nil {
		return err
	}
	return s.Rows.AddFile(ctx, f, most)
}

func (s faultyFiles) StoredFile(ctx context.Context, room, id string) (files.Stored, error) {
	if err := s.fault(); err != nil {
		return files.Stored{}, err
	}
	return s.Rows.StoredFile(ctx, room, id)
}

// faultyStore is the real store, but all calls fail while a fault is set.
type faultyStore struct {
	chat.Store
	*faults
}

func (s faultyStore) Epoch(ctx context.Context) (_ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Epoch(ctx)
}

func (s faultyStore) PutUser(ctx context.Context, p chat.Profile, issued int64) (_ chat.User, _ int64, err error) {
	if err = s.faultOfCommand(); err != nil {
		return
	}
	return s.Store.PutUser(ctx, p, issued)
}

func (s faultyStore) Revoked(ctx context.Context, users []string) (_ map[string]int64, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Revoked(ctx, users)
}

func (s faultyStore) PutSubscription(ctx context.Context, sub chat.Subscription, most int) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.PutSubscription(ctx, sub, most)
}

func (s faultyStore) DeleteSubscription(ctx context.Context, sub chat.Subscription) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.DeleteSubscription(ctx, sub)
}

func (s faultyStore) Revoke(ctx context.Context, user string, second int64) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Revoke(ctx, user, second)
}

func (s faultyStore) KeyUsed(ctx context.Context, user, key string) (_ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.KeyUsed(ctx, user, key)
}

func (s faultyStore) CreateRoom(ctx context.Context, r chat.NewRoom) (_ chat.Membership, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.CreateRoom(ctx, r)
}

func (s faultyStore) Join(ctx context.Context, j chat.Joining) (_ chat.Membership, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Join(ctx, j)
}

func (s faultyStore) Leave(ctx context.Context, l chat.Leaving) (_ chat.Left, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Leave(ctx, l)
}

func (s faultyStore) Direct(ctx context.Context, p chat.Pairing) (_ chat.Paired, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Direct(ctx, p)
}

func (s faultyStore) Block(ctx context.Context, b chat.Blocking) (_ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Block(ctx, b)
}

func (s faultyStore) CreateLink(ctx context.Context, l chat.NewLink) (_ chat.NewLink, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.CreateLink(ctx, l)
}

func (s faultyStore) Link(ctx context.Context, room, id string) (_ chat.LinkState, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Link(ctx, room, id)
}

func (s faultyStore) Links(ctx context.Context, room, creator string, now time.Time) (_ []chat.Link, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Links(ctx, room, creator, now)
}

func (s faultyStore) JoinRequests(ctx context.Context, room string, limit int) (_ []chat.JoinRequest, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.JoinRequests(ctx, room, limit)
}

func (s faultyStore) DeleteLink(ctx context.Context, room, id, creator string) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.DeleteLink(ctx, room, id, creator)
}

func (s faultyStore) Unblock(ctx context.Context, user, blocked string) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Unblock(ctx, user, blocked)
}

func (s faultyStore) Blockers(ctx context.Context, user string, of []string) (_ []string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Blockers(ctx, user, of)
}

func (s faultyStore) Known(ctx context.Context, viewer string, users []string) (_ []chat.User, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Known(ctx, viewer, users)
}

func (s faultyStore) Contacts(ctx context.Context, user string) (_ chat.Contacts, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Contacts(ctx, user)
}

func (s faultyStore) SetContact(ctx context.Context, user string, c chat.Contact) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.SetContact(ctx, user, c)
}

func (s faultyStore) PutDeviceCode(ctx context.Context, user string, issued int64, hash []byte, until time.Time) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.PutDeviceCode(ctx, user, issued, hash, until)
}

func (s faultyStore) PutPicture(ctx context.Context, user string, issued int64, p chat.Picture, at time.Time) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.PutPicture(ctx, user, issued, p, at)
}

func (s faultyStore) DeletePictures(ctx context.Context, user string, until time.Time) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.DeletePictures(ctx, user, until)
}

func (s faultyStore) TakeDeviceCode(ctx context.Context, user string, hash []byte, now time.Time) (_ chat.User, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.TakeDeviceCode(ctx, user, hash, now)
}

func (s faultyStore) SetPrefs(ctx context.Context, c chat.PrefsChange) (_ chat.Prefs, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.SetPrefs(ctx, c)
}

func (s faultyStore) Change(ctx context.Context, c chat.Change) (_ chat.Changed, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Change(ctx, c)
}

func (s faultyStore) FindRooms(ctx context.Context, query, next string, limit int) (_ []chat.Room, _ string, err error) {
	if err = s.faultOfCommand(); err != nil {
		return
	}
	return s.Store.FindRooms(ctx, query, next, limit)
}

func (s faultyStore) Room(ctx context.Context, room string) (_ chat.Room, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Room(ctx, room)
}

func (s faultyStore) Roster(ctx context.Context, room string, limit int) (_ []string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Roster(ctx, room, limit)
}

func (s faultyStore) ActiveSince(ctx context.Context, room string, since time.Time, limit int) (_ []string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.ActiveSince(ctx, room, since, limit)
}

func (s faultyStore) Members(ctx context.Context, room, next string, limit int) (_ []chat.Member, _ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Members(ctx, room, next, limit)
}

func (s faultyStore) Standing(ctx context.Context, room, user string) (_ chat.Standing, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Standing(ctx, room, user)
}

func (s faultyStore) Memberships(ctx context.Context, user string) (_ []chat.Membership, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Memberships(ctx, user)
}

func (s faultyStore) MembershipsPage(ctx context.Context, user, next string, limit int) (_ []chat.Membership, _ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.MembershipsPage(ctx, user, next, limit)
}

func (s faultyStore) Membership(ctx context.Context, room, user string) (_ chat.Membership, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Membership(ctx, room, user)
}

func (s faultyStore) Append(ctx context.Context, d chat.Draft) (_ chat.Entry, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Append(ctx, d)
}

func (s faultyStore) Amend(ctx context.Context, a chat.Amendment) (_ chat.Amended, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Amend(ctx, a)
}

func (s faultyStore) Mentions(ctx context.Context, user, next string, limit, maxBytes int) (_ []chat.Entry, _ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Mentions(ctx, user, next, limit, maxBytes)
}

func (s faultyStore) Search(ctx context.Context, q chat.Search) (_ chat.Found, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Search(ctx, q)
}

func (s faultyStore) OwnReports(ctx context.Context, q chat.OwnReports) (_ []chat.Report, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.OwnReports(ctx, q)
}

func (s faultyStore) AppealReport(ctx context.Context, id string, a chat.Appeal) (_ chat.Report, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.AppealReport(ctx, id, a)
}

func (s faultyStore) History(ctx context.Context, room string, p chat.Page) (_ []chat.Entry, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.History(ctx, room, p)
}

func (s faultyStore) Spans(ctx context.Context, spans []chat.Span) (_ map[string][]chat.Entry, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Spans(ctx, spans)
}

func (s faultyStore) LastSeqs(ctx context.Context, rooms []string) (_ map[string]int64, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.LastSeqs(ctx, rooms)
}

func (s faultyStore) Read(ctx context.Context, room, user string, seq int64, now time.Time) (_ chat.Reading, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Read(ctx, room, user, seq, now)
}
