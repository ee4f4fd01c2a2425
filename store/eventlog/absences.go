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
	Seq        int64  // of the newest entry
	Row        int64  // id of the row of the stream that has that entry
	Reason     string // see chat.Reason
	Count      int    // entries
	Due        time.Time
	Back       bool // the user has a socket again
}

// Told is what one look at the stream has found.
type Told struct {
	Consumer                // with its new position
	Before, Owner string    // the old position and the owner of the lease, see Consumers.Advance
	Absences      []Absence // at most one for each user
	// Again is set for the second look: an absence counts only if the first look has found no later one of the user.
	Again bool
	// Due is when later absences of these users are told.
	Due time.Time
}

// Absences is the part of the SQL database that merges news for users without a socket: one event tells a user's first absence, and another
// one all absences of the minute after it.
type Absences interface {
	// TellAbsences moves the consumer, as Consumers.Advance does, and in the same transaction writes events of the kind UserOffline for those
	// users that were told nothing within the last minute. What it finds for others is added to what they are told next.
	TellAbsences(ctx context.Context, t Told) error
	// DueAbsences returns users whose minute is over and that are to be told more, at most limit of them. It deletes those for whom there is
	// nothing more to tell.
	DueAbsences(ctx context.Context, now time.Time, limit int) ([]Absence, error)
	// TellDue writes the events of the due absences, whose next minute ends at the given time. Those of users that are back are deleted.
	TellDue(ctx context.Context, due []Absence, next time.Time) error
}

// AbsentConsumer is the name of the consumer whose row all transactions of Absences lock first, so that they are serial.
const AbsentConsumer = "~offline"

// Offline adds one event for each user. Absences with the same entry share one reference.
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

// SortAbsences orders them by user, which is the order in which their rows are locked.
func SortAbsences(a []Absence) {
	slices.SortFunc(a, func(a, b Absence) int { return strings.Compare(a.User, b.User) })
}

// Among returns the absences of these users.
func Among(absences []Absence, users []string) []Absence {
	wanted := make(map[string]bool, len(users))
	for _, user := range users {
		wanted[user] = true
	}
	return slices.DeleteFunc(slices.Clone(absences), func(a Absence) bool { return !wanted[a.User] })
}

// WithNews returns the absences that are to be told, and reports whether there are others.
func WithNews(absences []Absence) (news []Absence, others bool) {
	news = slices.DeleteFunc(slices.Clone(absences), func(a Absence) bool { return a.Count == 0 })
	return news, len(news) < len(absences)
}

// SplitBack divides the stored absences, some of which were asked for, into those of users that are back, and those to be told.
func SplitBack(asked, stored []Absence) (back, absent []Absence) {
	isBack := make(map[string]bool, len(asked))
	for _, a := range asked {
		isBack[a.User] = a.Back
	}
	for _, a := range stored {
		if isBack[a.User] {
			back = append(back, a)
		} else {
			absent = append(absent, a)
		}
	}
	return back, absent
}
