package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// UserRecord is what the host sees of a user.
type UserRecord struct {
	User
	Ref         string          // the host's own id; "": none
	Custom      json.RawMessage // an object of the host, which no client sees; nil: none
	SuspendedAt time.Time       // zero: the user is not suspended
	ErasedAt    time.Time       // zero: the user is not erased
}

// Erased reports whether the user is erased or is being erased, for ever.
func (u UserRecord) Erased() bool { return !u.ErasedAt.IsZero() }

// Suspended reports whether the tokens of the user are refused.
func (u UserRecord) Suspended() bool { return !u.SuspendedAt.IsZero() }

// UserRecord returns a user; ErrNotFound if the store does not have the user.
func (s *Service) UserRecord(ctx context.Context, user string) (UserRecord, error) {
	if err := CheckUser("user", user); err != nil {
		return UserRecord{}, err
	}
	return s.store.UserRecord(ctx, user)
}

const (
	recordsPage = 100  // records of a page, if the caller sets no limit
	recordsMost = 1000 // largest number of records in a page, or in one request

	namesPage = 10_000 // users among whom one page of a search by name looks: no index finds a part of a name
)

// UserQuery selects users. The zero value selects all.
type UserQuery struct {
	Suspended bool   // only suspended users
	RefPrefix string // only users whose ref begins with it
	Name      string // only users whose name contains it; case does not matter for ASCII letters
	Next      string // cursor of the page; "": the first one
	Limit     int    // 0: recordsPage
	Among     int    // with Name: a page has only those of the next users, and may be empty without being the last; UserRecords sets it
}

// UserRecords lists users by id; by ref if RefPrefix is set. more is the cursor of the following page; "" if there is none.
func (s *Service) UserRecords(ctx context.Context, q UserQuery) (users []UserRecord, more string, err error) {
	if q.Limit, err = recordsLimit(q.Limit); err != nil {
		return nil, "", err
	}
	switch {
	case q.Name != "" && q.RefPrefix != "":
		return nil, "", BadField("name", "cannot be combined with ref_prefix")
	case utf8.RuneCountInString(q.Name) > s.limits.NameChars:
		return nil, "", &FieldError{Err: ErrTooLong, Field: "name", Reason: "is longer than names are", Limit: s.limits.NameChars}
	}
	if q.RefPrefix != "" {
		if err := checkRef("ref_prefix", q.RefPrefix); err != nil {
			return nil, "", err
		}
	}
	q.Among = namesPage
	return s.store.UserRecords(ctx, q)
}

func recordsLimit(limit int) (int, error) {
	switch {
	case limit < 0:
		return 0, BadField("limit", "must not be negative")
	case limit == 0:
		return recordsPage, nil
	}
	return min(limit, recordsMost), nil
}

// UserRecordsOf returns the records of the known users among users (ids) and refs (ids of the host), each once and in any
// order.
func (s *Service) UserRecordsOf(ctx context.Context, users, refs []string) ([]UserRecord, error) {
	if len(users)+len(refs) > recordsMost {
		return nil, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: fmt.Sprintf("and refs must be at most %d", recordsMost), Limit: recordsMost}
	}
	for n, user := range users {
		if err := CheckUser(fmt.Sprintf("users[%d]", n), user); err != nil {
			return nil, err
		}
	}
	for n, ref := range refs {
		if err := checkRef(fmt.Sprintf("refs[%d]", n), ref); err != nil {
			return nil, err
		}
	}
	return s.store.UserRecordsOf(ctx, users, refs)
}

// maxAvatarBytes is the largest size of an avatar that a host may set.
const maxAvatarBytes = 1024

// UserChange is what the host says about a user. A nil field leaves the stored value.
type UserChange struct {
	User   string
	Name   *string
	Avatar *string
	Ref    *string         // "": none
	Custom json.RawMessage // an empty object: none
}

// UserPut is a UserChange that has been checked.
type UserPut UserChange

// checked returns the change in the form that the store takes, or an error if a field is wrong.
func (c UserChange) checked(l Limits) (UserPut, error) {
	if err := CheckUser("user", c.User); err != nil {
		return UserPut{}, err
	}
	if c.Name != nil {
		name, err := checkName(*c.Name, l.NameChars)
		if err != nil {
			return UserPut{}, err
		}
		c.Name = &name
	}
	if c.Avatar != nil && *c.Avatar != "" {
		avatar := NormalAvatar(*c.Avatar)
		if avatar == "" || len(avatar) > maxAvatarBytes {
			return UserPut{}, BadField("avatar", "must be an address of http or https of at most 1024 bytes")
		}
		c.Avatar = &avatar
	}
	if c.Ref != nil && *c.Ref != "" {
		if err := checkRef("ref", *c.Ref); err != nil {
			return UserPut{}, err
		}
	}
	if err := checkCustom(c.Custom, l.DataBytes); err != nil {
		return UserPut{}, err
	}
	return UserPut(c), nil
}

// checkRef returns an error unless the text has the form of a host's own id.
func checkRef(field, ref string) error {
	if CheckKey(ref) != nil {
		return BadField(field, "must have 1 to 64 characters from ! to ~")
	}
	return nil
}

// checkCustom returns an error unless the data is missing or a JSON object of at most limit bytes.
func checkCustom(data json.RawMessage, limit int) error {
	err := checkData(data, limit)
	var field *FieldError
	if errors.As(err, &field) {
		field.Field, field.Limit = "custom", limit
	}
	return err
}

// PutUser creates a user, or changes what the host says about one. It makes all instances drop the user from their caches. A
// token that the user uses later may change the name and the avatar again.
func (s *Service) PutUser(ctx context.Context, c UserChange) (UserRecord, error) {
	p, err := c.checked(s.limits)
	if err != nil {
		return UserRecord{}, err
	}
	return s.putRecord(ctx, p)
}

func (s *Service) putRecord(ctx context.Context, p UserPut) (UserRecord, error) {
	u, err := s.store.PutUserRecord(ctx, p)
	s.forgetUser(p.User, err)
	return u, err
}

// forgetUser makes all instances drop a user from their caches if the user's record may have changed. err is the store's error.
func (s *Service) forgetUser(user string, err error) {
	if err == nil || errors.Is(err, ErrUnavailable) { // after ErrUnavailable the outcome is unknown
		s.Forget("", user)
		s.pub.StandingChanged("", user)
	}
}

const putsAtOnce = 8 // transactions that wait for the disk together

// PutUsers is PutUser for many users. If one of the changes has a wrong field, it stores none. A change whose ref another
// user has keeps none of the others from being stored; the error names the first such change. After ErrUnavailable some may
// be stored.
func (s *Service) PutUsers(ctx context.Context, changes []UserChange) ([]UserRecord, error) {
	switch {
	case len(changes) == 0:
		return nil, BadField("users", "must name somebody")
	case len(changes) > recordsMost:
		return nil, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: fmt.Sprintf("must be at most %d", recordsMost), Limit: recordsMost}
	}
	puts := make([]UserPut, len(changes))
	for n, c := range changes {
		var err error
		if puts[n], err = c.checked(s.limits); err != nil {
			return nil, inList(err, "users", n)
		}
	}
	stored, refused := make([]UserRecord, len(changes)), make([]error, len(changes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(putsAtOnce)
	for n, p := range puts {
		group.Go(func() (err error) {
			if stored[n], err = s.putRecord(ctx, p); errors.Is(err, ErrUnavailable) {
				return err // ends the others, which would wait as long
			}
			refused[n] = inList(err, "users", n)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return stored, err
	}
	return stored, cmp.Or(refused...)
}

// Suspend suspends the user: until Reinstate, all tokens of the user are refused, whenever they were issued. The caller must
// close the user's sockets afterwards. A user that no token has named yet can be suspended, too. A repeated Suspend changes
// nothing.
func (s *Service) Suspend(ctx context.Context, user string) (UserRecord, error) {
	if err := CheckUser("user", user); err != nil {
		return UserRecord{}, err
	}
	u, err := s.store.Suspend(ctx, user, s.now())
	s.forgetUser(user, err)
	return u, err
}

// Reinstate ends a suspension. Tokens of the user that were issued before are valid again, unless they have expired or were
// revoked.
func (s *Service) Reinstate(ctx context.Context, user string) (UserRecord, error) {
	if err := CheckUser("user", user); err != nil {
		return UserRecord{}, err
	}
	u, err := s.store.Reinstate(ctx, user)
	s.forgetUser(user, err)
	return u, err
}

// inList changes the field that err names to that of the list's element n, for example from name to users[3].name.
func inList(err error, list string, n int) error {
	var field *FieldError
	if !errors.As(err, &field) {
		return err
	}
	in := *field
	in.Field = fmt.Sprintf("%s[%d].%s", list, n, field.Field)
	return &in
}

// CheckUser returns an error that names the field unless the text has the form of a user's id.
func CheckUser(field, user string) error {
	if !ValidUser(user) {
		return BadField(field, "must be 1 to 64 of A-Z a-z 0-9 _ . : @ -")
	}
	return nil
}

// entriesMost is the largest number of entries in a page of EntriesOf.
const entriesMost = 200

// EntriesOf returns a page of all that the user has sent: see EntryStore.EntriesOf. ErrNotFound: the user is unknown.
func (s *Service) EntriesOf(ctx context.Context, user, next string, limit int) (entries []Entry, more string, err error) {
	if err := CheckUser("user", user); err != nil {
		return nil, "", err
	}
	if limit, err = recordsLimit(limit); err != nil {
		return nil, "", err
	}
	if _, err := s.store.UserRecord(ctx, user); err != nil {
		return nil, "", err
	}
	return s.store.EntriesOf(ctx, user, next, min(limit, entriesMost))
}
