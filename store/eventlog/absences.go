package eventlog

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Absence is news for a user that has no socket.
type Absence struct {
	User, Room string
	Seq        int64     // of the newest entry
	Row        int64     // id of the row of the stream that has that entry
	Reason     string    // see chat.Reason
	Count      int       // number of entries; in a stored absence: entries of which no event tells yet
	Due        time.Time // when the next event about the user may be written
	Back       bool      // the user has a socket again
}

// AbsenceLook is what one look at the stream has found. There are two looks, each with a consumer of its own. The second look reads the
// same entries later: then the server knows which sockets had died.
type AbsenceLook struct {
	Consumer                // with its new position
	Before, Owner string    // the old position of the consumer, and the owner of its lease: see Consumers.Advance
	Absences      []Absence // at most one for each user
	// Again is set for the second look: an absence is left out if the stored absence of the user is of the same row or a later one.
	Again bool
	// Due is the time at which the next absences of these users are told.
	Due time.Time
}

// Absences is the part of the SQL database that merges news for users without a socket. One event tells of a user's first absence, and
// another event of all absences of the minute after it. To tell an absence is to write an event of the kind UserOffline. The database
// stores one absence for each user that was told something within about the last minute.
type Absences interface {
	// TellAbsences moves the consumer, as Consumers.Advance does, and fails as Advance does. In the same transaction it tells the absences
	// of users that have no stored absence, and stores one for them. It adds the absences of other users to their stored ones: see
	// AbsenceLook.Again.
	TellAbsences(ctx context.Context, t AbsenceLook) error
	// DueAbsences reads at most limit stored absences whose minute is over, and returns those that have more to tell (Count > 0). If it
	// finds others, it deletes all stored absences whose minute is over and that have nothing more to tell.
	DueAbsences(ctx context.Context, now time.Time, limit int) ([]Absence, error)
	// TellDue tells the due absences. Their next minute ends at the time next. It deletes the absences of users that are back, without an
	// event. It leaves out absences that were told since DueAbsences has read them.
	TellDue(ctx context.Context, due []Absence, next time.Time) error
}

// AbsentConsumer is the name of the consumer of the first look. In pgstore, TellAbsences and TellDue lock its row first, so that their
// transactions run one after another.
const AbsentConsumer = "~offline"

// Offline adds one event for each absence, if UserOffline is a wanted kind. Absences with the same entry, reason and count share one
// reference.
func (r *Refs) Offline(absences []Absence) {
	type key struct {
		room   string
		seq    int64
		reason string
		count  int
	}
	if !r.wanted[UserOffline] {
		return
	}
	users := map[key][]string{}
	var order []key
	for _, a := range absences {
		k := key{a.Room, a.Seq, a.Reason, a.Count}
		if users[k] == nil {
			order = append(order, k)
		}
		users[k] = append(users[k], a.User)
	}
	for _, k := range order {
		data, err := json.Marshal(struct {
			Reason string `json:"reason"`
			Count  int    `json:"count"`
		}{k.reason, k.count})
		if err != nil {
			continue // a struct of a string and a number is always encoded
		}
		r.refs = append(r.refs, Ref{Kind: UserOffline, Room: k.room, Seq: k.seq, Users: users[k], Data: data})
	}
}

// SortAbsences orders the absences by user. That is the order in which pgstore locks their rows.
func SortAbsences(a []Absence) {
	slices.SortFunc(a, func(a, b Absence) int { return strings.Compare(a.User, b.User) })
}

// Among returns those of the absences that are of these users.
func Among(absences []Absence, users []string) []Absence {
	wanted := make(map[string]bool, len(users))
	for _, user := range users {
		wanted[user] = true
	}
	return slices.DeleteFunc(slices.Clone(absences), func(a Absence) bool { return !wanted[a.User] })
}

// WithNews returns the absences that have something to tell (Count > 0), and reports whether there are others.
func WithNews(absences []Absence) (news []Absence, others bool) {
	news = slices.DeleteFunc(slices.Clone(absences), func(a Absence) bool { return a.Count == 0 })
	return news, len(news) < len(absences)
}

// StillAbsent returns the stored absences of users that are not back. asked are the absences that TellDue got: they say which users
// are back.
func StillAbsent(asked, stored []Absence) []Absence {
	back := make(map[string]bool, len(asked))
	for _, a := range asked {
		back[a.User] = a.Back
	}
	return slices.DeleteFunc(stored, func(a Absence) bool { return back[a.User] })
}
