package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ReportKind says what a report is about.
type ReportKind string

// The kinds of reports.
const (
	ReportMessage ReportKind = "message"
	ReportPacket  ReportKind = "packet"
	ReportPerson  ReportKind = "person"
)

// reportReasons are the reasons that a report may give.
var reportReasons = []string{"spam", "scam", "abuse", "sexual", "violence", "other"}

// The outcomes that a host may give a report.
const (
	ReportActed     = "acted"
	ReportDismissed = "dismissed"
)

// reportCauses are why a report may have each outcome. Both sides are told the cause.
var reportCauses = map[string][]string{ReportActed: reportReasons, ReportDismissed: {"no_breach", "no_evidence", "other"}}

// reportChars is the largest number of characters of a report's text, and of the note of its resolution.
const reportChars = 500

// ReportState says whether a report waits for the host.
type ReportState string

// The states of a report.
const (
	ReportOpen     ReportState = "open"
	ReportResolved ReportState = "resolved"
	ReportAppealed ReportState = "appealed" // it was resolved, and waits again
)

// Report is what a user has told the host about an entry or about another user. It holds no copy of the entry.
type Report struct {
	ID     string
	Kind   ReportKind
	By     string // the user that reports
	About  string // the user that is reported, or that has sent the entry
	Room   string // "": a user was reported outside a room
	Seq    int64  // of the entry
	Packet string
	Reason string
	Text   string
	At     time.Time
	State  ReportState

	// After the resolution.
	Outcome    string
	Cause      string // of the outcome
	Note       string // for the host only
	ResolvedBy string
	ResolvedAt time.Time

	Appeal Appeal
}

// Details returns the JSON details of events about the report. They have neither the report's text nor the note.
func (r Report) Details() json.RawMessage {
	details, err := json.Marshal(struct {
		Report  string     `json:"report"`
		Kind    ReportKind `json:"kind"`
		About   string     `json:"about"`
		Seq     int64      `json:"seq,omitempty"`
		Packet  string     `json:"packet,omitempty"`
		Reason  string     `json:"reason"`
		Outcome string     `json:"outcome,omitempty"`
		Cause   string     `json:"cause,omitempty"`
		Appeal  string     `json:"appeal_by,omitempty"`
	}{r.ID, r.Kind, r.About, r.Seq, r.Packet, r.Reason, r.Outcome, r.Cause, r.Appeal.By})
	if err != nil {
		return nil // strings and numbers are always encoded
	}
	return details
}

// ReportRequest is what a user reports: either the entry Seq of the Room, or the user User. A reported User is or was a
// member of the Room. If Room is "", the User shares some room with the reporter.
type ReportRequest struct {
	Key, Room string
	Seq       int64
	User      string
	Reason    string
	Text      string
}

func (r ReportRequest) check() error {
	switch {
	case r.Seq < 0:
		return BadField("seq", "must be an entry of the room")
	case r.Seq == 0 && r.User == "":
		return BadField("user", "is missing, and seq too")
	case r.Seq > 0 && r.User != "":
		return BadField("user", "must not come with seq")
	case !slices.Contains(reportReasons, r.Reason):
		return BadField("reason", fmt.Sprintf("must be one of %v", reportReasons))
	}
	if r.Seq > 0 || r.Room != "" {
		if err := checkID("room", r.Room); err != nil {
			return err
		}
	}
	if r.User != "" {
		if err := CheckUser("user", r.User); err != nil {
			return err
		}
	}
	return checkOptional("text", r.Text, reportChars)
}

func (r ReportRequest) hash() []byte {
	return RequestHash("report", r.Room, strconv.FormatInt(r.Seq, 10), r.User, r.Reason, r.Text)
}

// NewReport is a report to be stored.
type NewReport struct {
	Report

	Key  string
	Hash []byte
}

// Report stores what the user by reports. A user can report only entries and users that the user can see. A repeated key
// returns the first report with dup set. So does a second report about the same entry, or about the same user in the same room,
// while the first one is open.
func (s *Service) Report(ctx context.Context, by User, r ReportRequest) (stored Report, dup bool, err error) {
	if err := CheckKey(r.Key); err != nil {
		return Report{}, false, err
	}
	n := NewReport{Report: Report{By: by.ID, Room: r.Room, Seq: r.Seq, Reason: r.Reason, Text: r.Text, State: ReportOpen}, Key: r.Key, Hash: r.hash()}
	if stored, found, err := s.store.ReportByKey(ctx, n); err != nil || found {
		return stored, found, err
	}
	if err := r.check(); err != nil {
		return Report{}, false, err
	}
	if r.Seq > 0 {
		err = s.reportedEntry(ctx, &n.Report)
	} else {
		n.Kind, n.About = ReportPerson, r.User
		err = s.maySeePerson(ctx, by.ID, r)
	}
	if err == nil && n.About == by.ID {
		err = BadField("user", "is the caller")
		if r.Seq > 0 {
			err = BadField("seq", "is an entry of the caller")
		}
	}
	if err != nil {
		return Report{}, false, err
	}
	n.At = s.now()
	n.ID = s.newID(n.At)
	return s.store.AddReport(ctx, n)
}

// reportedEntry sets the Kind, About and Packet of a report from the reported entry. It returns an error if the reporter may
// not see the entry, or if the entry is neither a text nor a packet.
func (s *Service) reportedEntry(ctx context.Context, r *Report) error {
	if err := s.mayRead(ctx, r.Room, r.By); err != nil {
		return err
	}
	before := r.Seq + 1
	entries, _, err := s.store.History(ctx, r.Room, Page{Before: &before, Limit: 1})
	if err != nil {
		return err
	}
	if len(entries) != 1 || entries[0].Seq != r.Seq || !entries[0].Kind.Content() {
		return &FieldError{Err: ErrNotFound, Field: "seq", Reason: "must be a text or packet of the room"}
	}
	e := entries[0]
	r.Kind, r.About = ReportMessage, e.From.ID
	if e.Kind == KindPacket {
		var packet struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(e.Body, &packet); err != nil {
			return fmt.Errorf("parse packet entry %d of room %s: %w", e.Seq, e.Room, err)
		}
		r.Kind, r.Packet = ReportPacket, packet.ID
	}
	return nil
}

// maySeePerson returns an error unless the user by may know the reported user: from the room in r or, if r names none, from
// any common room (Store.Known).
func (s *Service) maySeePerson(ctx context.Context, by string, r ReportRequest) error {
	var known bool
	if r.Room != "" {
		if err := s.mayRead(ctx, r.Room, by); err != nil {
			return err
		}
		standing, err := s.Standing(ctx, r.Room, r.User)
		if err != nil {
			return err
		}
		known = standing.Ever
	} else {
		users, err := s.store.Known(ctx, by, []string{r.User})
		if err != nil {
			return err
		}
		known = len(users) > 0
	}
	if !known {
		return &FieldError{Err: ErrNotFound, Field: "user", Reason: "is in no room with the caller"}
	}
	return nil
}

// ReportQuery asks for reports, the oldest first.
type ReportQuery struct {
	State ReportState // "": all
	After string      // id of the last one of the page before
	Limit int
}

// Reports lists reports for the host. more says that there are others after the page.
func (s *Service) Reports(ctx context.Context, q ReportQuery) (page []Report, more bool, err error) {
	switch q.State {
	case "", ReportOpen, ReportResolved, ReportAppealed:
	default:
		return nil, false, BadField("state", "must be open, resolved or appealed")
	}
	if q.Limit, err = pageLimit(q.Limit); err != nil {
		return nil, false, err
	}
	if q.After != "" {
		if err := checkID("after", q.After); err != nil {
			return nil, false, err
		}
	}
	wanted := q.Limit
	q.Limit++
	page, err = s.store.Reports(ctx, q)
	if len(page) > wanted {
		return page[:wanted], true, err
	}
	return page, false, err
}

// ReportByID returns a report for the host; ErrNotFound if there is none.
func (s *Service) ReportByID(ctx context.Context, id string) (Report, error) {
	if err := checkID("report", id); err != nil {
		return Report{}, err
	}
	return s.store.ReportByID(ctx, id)
}

// Resolution is what the host has decided about a report.
type Resolution struct {
	Report, Outcome, Cause, Note string

	Appeal bool // it decides an appeal: so a first resolution that is repeated decides none
	By     string
	At     time.Time
}

func (r Resolution) check() error {
	if err := checkID("report", r.Report); err != nil {
		return err
	}
	causes := reportCauses[r.Outcome]
	if causes == nil {
		return BadField("outcome", "must be acted or dismissed")
	}
	if !slices.Contains(causes, r.Cause) {
		return BadField("cause", fmt.Sprintf("must be one of %v, because the outcome is %s", causes, r.Outcome))
	}
	return checkOptional("note", r.Note, reportChars)
}

// ResolveReport stores the outcome of a report, and tells both sides. If the report is resolved already, the same outcome, cause and note change nothing,
// and any others are ErrConflict.
func (s *Service) ResolveReport(ctx context.Context, r Resolution) (Report, error) {
	if err := r.check(); err != nil {
		return Report{}, err
	}
	r.At = s.now()
	stored, err := s.store.ResolveReport(ctx, r)
	if err == nil {
		s.tellDecision(stored)
	}
	return stored, err
}

// With returns the report as it is after the resolution. The error says that it was resolved in another way, or that its appeal must be read.
func (r Report) With(by Resolution) (Report, error) {
	same := r.Outcome == by.Outcome && r.Cause == by.Cause && r.Note == by.Note
	switch {
	case by.Appeal && r.Appeal.By == "":
		return r, &FieldError{Err: ErrConflict, Field: "appeal", Reason: "is true, and nobody has appealed"}
	case r.State == ReportOpen, r.State == ReportAppealed && by.Appeal:
		r.State, r.Outcome, r.Cause, r.Note, r.ResolvedBy, r.ResolvedAt = ReportResolved, by.Outcome, by.Cause, by.Note, by.By, by.At
		return r, nil
	case same:
		return r, nil
	case r.State == ReportAppealed:
		return r, &FieldError{Err: ErrConflict, Field: "appeal", Reason: "must be true: a user has appealed, so read that first"}
	}
	return r, &FieldError{Err: ErrConflict, Field: "outcome", Reason: "the report was resolved with another outcome, cause or note"}
}
