package chat

import "time"

// invite adds those of the users that are not members yet. If any of them cannot be added, it adds none.
func (c Change) invite(s RuleInput) (r Ruling, err error) {
	for _, target := range s.Users {
		switch {
		case !target.Known:
			return Ruling{}, &FieldError{Err: ErrNotFound, Field: "users", Reason: target.User}
		case target.Standing.Banned:
			return Ruling{}, ErrBanned
		case target.Standing.In:
			continue
		case target.Rooms >= c.MaxRooms:
			return Ruling{}, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: target.User + " is in too many rooms"}
		case s.Room.Members+len(r.Standings) >= c.MaxMembers:
			return Ruling{}, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: "are more than the room holds"}
		}
		in := Standing{Ever: true, In: true, Role: Plain, MutedUntil: target.Standing.MutedUntil}
		if err := r.setStanding(target.User, in, MemberChange{Change: "invited", By: c.By.ID}); err != nil {
			return Ruling{}, err
		}
	}
	return r, nil
}

// kickOrBan removes a member. A ban also applies to a user that is not a member.
func (c Change) kickOrBan(target UserStanding) (r Ruling, err error) {
	ban := c.Kind == Ban
	switch {
	case !target.Known:
		return Ruling{}, unknownUser()
	case !target.Standing.In && (!ban || target.Standing.Banned):
		return Ruling{}, nil
	}
	said := MemberChange{Change: "kicked", By: c.By.ID}
	if ban {
		said.Change = "banned"
	}
	err = r.setStanding(target.User, Standing{Ever: true, Banned: ban, MutedUntil: target.Standing.MutedUntil}, said)
	return r, err
}

// unban lets a banned user join again. It appends no entry, because the user does not become a member.
func (c Change) unban(target UserStanding) (Ruling, error) {
	if !target.Standing.Banned {
		return Ruling{}, nil
	}
	st := target.Standing
	st.Banned = false
	return Ruling{Standings: []UserStanding{{User: target.User, Standing: st}}}, nil
}

// setRole changes a member's role. The role of the owner can only be handed over: a room always has exactly one owner.
func (c Change) setRole(s RuleInput) (r Ruling, err error) {
	target := s.Users[0]
	switch {
	case !target.Standing.In:
		return Ruling{}, unknownUser()
	case target.Standing.Role == c.Role:
		return Ruling{}, nil
	case target.User == c.By.ID:
		return Ruling{}, BadField("user", "must be another one: a room is handed over")
	}
	if err := c.giveRole(&r, target.User, target.Standing, c.Role); err != nil || c.Role != Owner {
		return r, err
	}
	err = c.giveRole(&r, c.By.ID, s.By, Admin)
	return r, err
}

// giveRole adds a new role of a user to the ruling. It ends the mute of a new owner, because no other user could: no
// role ranks above the owner's.
func (c Change) giveRole(r *Ruling, user string, st Standing, role Role) error {
	if st.Role = role; role == Owner {
		st.MutedUntil = time.Time{}
	}
	return r.setStanding(user, st, MemberChange{Change: "role", By: c.By.ID, Role: role})
}

// mute also applies to a user that has left the room. Otherwise leaving and coming back would end a mute.
func (c Change) mute(target UserStanding) (r Ruling, err error) {
	st := target.Standing
	switch {
	case !st.Ever:
		return Ruling{}, unknownUser()
	case c.Until.IsZero() && !c.At.Before(st.MutedUntil), c.Until.Equal(st.MutedUntil):
		return Ruling{}, nil
	}
	st.MutedUntil = c.Until
	err = r.setStanding(target.User, st, MemberChange{Change: "muted", By: c.By.ID, Until: unixMilli(c.Until)})
	return r, err
}

// setStanding adds the user's new standing to the ruling, and the entry that records it.
func (r *Ruling) setStanding(user string, st Standing, said MemberChange) error {
	said.User = user
	body, err := Body(said)
	if err != nil {
		return err
	}
	r.Standings = append(r.Standings, UserStanding{User: user, Standing: st})
	r.Entries = append(r.Entries, RuledEntry{Kind: KindMember, Body: body})
	return nil
}

func unknownUser() error {
	return &FieldError{Err: ErrNotFound, Field: "user", Reason: "is not there"}
}

// unixMilli returns the time in Unix milliseconds; 0 for the zero time.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
