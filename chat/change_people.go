package chat

import "time"

// invite puts in whoever is out: all of them or none.
func (c Change) invite(s Scene) (r Ruling, err error) {
	for _, who := range s.Users {
		switch {
		case !who.Known:
			return Ruling{}, &FieldError{Err: ErrNotFound, Field: "users", Reason: who.User}
		case who.Standing.Banned:
			return Ruling{}, ErrBanned
		case who.Standing.In:
			continue
		case who.Rooms >= c.MaxRooms:
			return Ruling{}, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: who.User + " is in too many rooms"}
		case s.Room.Members+len(r.Stand) >= c.MaxMembers:
			return Ruling{}, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: "are more than the room holds"}
		}
		in := Standing{Ever: true, In: true, Role: Plain, MutedUntil: who.Standing.MutedUntil}
		if err := r.stand(who.User, in, MemberChange{Change: "invited", By: c.By.ID}); err != nil {
			return Ruling{}, err
		}
	}
	return r, nil
}

// putOut is a kick, or a ban of one who may be out already.
func (c Change) putOut(who Placed) (r Ruling, err error) {
	ban := c.Kind == Ban
	switch {
	case !who.Known:
		return Ruling{}, unknownUser()
	case !who.Standing.In && (!ban || who.Standing.Banned):
		return Ruling{}, nil
	}
	said := MemberChange{Change: "kicked", By: c.By.ID}
	if ban {
		said.Change = "banned"
	}
	err = r.stand(who.User, Standing{Ever: true, Banned: ban, MutedUntil: who.Standing.MutedUntil}, said)
	return r, err
}

// unban says nothing to the room: he stays out.
func (c Change) unban(who Placed) (Ruling, error) {
	if !who.Standing.Banned {
		return Ruling{}, nil
	}
	st := who.Standing
	st.Banned = false
	return Ruling{Stand: []Placed{{User: who.User, Standing: st}}}, nil
}

// setRole gives a member another role. The owner's can only be handed over: a room has one, always.
func (c Change) setRole(s Scene) (r Ruling, err error) {
	who := s.Users[0]
	switch {
	case !who.Standing.In:
		return Ruling{}, unknownUser()
	case who.Standing.Role == c.Role:
		return Ruling{}, nil
	case who.User == c.By.ID:
		return Ruling{}, BadField("user", "must be another one: a room is handed over")
	}
	if err := c.give(&r, who.User, who.Standing, c.Role); err != nil || c.Role != Owner {
		return r, err
	}
	err = c.give(&r, c.By.ID, s.By, Admin)
	return r, err
}

// give lifts an owner's mute: nobody else could, for nobody is above him.
func (c Change) give(r *Ruling, user string, st Standing, role Role) error {
	if st.Role = role; role == Owner {
		st.MutedUntil = time.Time{}
	}
	return r.stand(user, st, MemberChange{Change: "role", By: c.By.ID, Role: role})
}

// mute holds for one who has left, too: else leaving and coming back would lift it.
func (c Change) mute(who Placed) (r Ruling, err error) {
	st := who.Standing
	switch {
	case !st.Ever:
		return Ruling{}, unknownUser()
	case c.Until.IsZero() && !c.At.Before(st.MutedUntil), c.Until.Equal(st.MutedUntil):
		return Ruling{}, nil
	}
	st.MutedUntil = c.Until
	err = r.stand(who.User, st, MemberChange{Change: "muted", By: c.By.ID, Until: unixMilli(c.Until)})
	return r, err
}

// stand has the user stand so from now on, and the room hear of it.
func (r *Ruling) stand(user string, st Standing, said MemberChange) error {
	said.User = user
	body, err := Body(said)
	if err != nil {
		return err
	}
	r.Stand = append(r.Stand, Placed{User: user, Standing: st})
	r.Entries = append(r.Entries, Ruled{Kind: KindMember, Body: body})
	return nil
}

func unknownUser() error {
	return &FieldError{Err: ErrNotFound, Field: "user", Reason: "is not there"}
}

// unixMilli is 0 for the zero time.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
