package chat

import (
	"context"
	"time"
)

// Side says what a user has to do with a report.
type Side string

// The sides of a report.
const (
	Reporter Side = "reporter" // the user has made it
	Reported Side = "reported" // it is about the user, and something was done
)

// OwnReports asks for the reports of one side of a user, the newest first.
type OwnReports struct {
	User   string
	Side   Side
	Before string // id of the last one of the page before; "": the first page
	Limit  int
}

// OwnReports lists what a user may know of reports. A reported user learns of a report when something was done, and never learns the reporter. more says
// that there are others after the page.
func (s *Service) OwnReports(ctx context.Context, q OwnReports) (page []Report, more bool, err error) {
	if q.Side != Reporter && q.Side != Reported {
		return nil, false, BadField("side", "must be reporter or reported")
	}
	if q.Limit, err = pageLimit(q.Limit); err != nil {
		return nil, false, err
	}
	if q.Before != "" {
		if err := checkID("next", q.Before); err != nil {
			return nil, false, err
		}
	}
	wanted := q.Limit
	q.Limit++
	page, err = s.store.OwnReports(ctx, q)
	return page[:min(len(page), wanted)], len(page) > wanted, err
}

// Appeal is what a user says against the decision about a report. A report has one appeal at most.
type Appeal struct {
	By   string // "": there was none
	Text string
	At   time.Time
}

// SideOf returns the side of a user; "" if the user may not know of the report.
func (r Report) SideOf(user string) Side {
	switch {
	case user == r.By:
		return Reporter
	case user == r.About && (r.Outcome == ReportActed || r.Appeal.By == user):
		return Reported
	}
	return ""
}

// MayAppeal reports whether the user may appeal: the decision went against the user, and nobody has appealed yet.
func (r Report) MayAppeal(user string) bool {
	side := r.SideOf(user)
	return r.State == ReportResolved && r.Appeal.By == "" && (side == Reporter && r.Outcome == ReportDismissed || side == Reported && r.Outcome == ReportActed)
}

// Appealed returns the report as it is after the appeal. The error says why there can be none.
func (r Report) Appealed(by Appeal) (Report, error) {
	switch {
	case r.SideOf(by.By) == "":
		return r, ErrNotFound
	case r.Appeal.By == by.By && r.Appeal.Text == by.Text:
		return r, nil
	case r.Appeal.By != "":
		return r, &FieldError{Err: ErrConflict, Field: "report", Reason: "has had its appeal"}
	case !r.MayAppeal(by.By):
		return r, &FieldError{Err: ErrConflict, Field: "report", Reason: "was not decided against the user"}
	}
	r.State, r.Appeal = ReportAppealed, by
	return r, nil
}

// AppealReport asks the host to decide a report again. Repeated with the same text, it changes nothing.
func (s *Service) AppealReport(ctx context.Context, user, report, text string) (Report, error) {
	if err := checkID("report", report); err != nil {
		return Report{}, err
	}
	if err := checkText("text", text, reportChars); err != nil {
		return Report{}, err
	}
	return s.store.AppealReport(ctx, report, Appeal{By: user, Text: text, At: s.now()})
}

// ReportDecided tells a user the decision about a report.
type ReportDecided struct {
	Report Report
	User   string
}

// EventName implements Event.
func (ReportDecided) EventName() string { return "report_decided" }

// tellDecision tells both sides.
func (s *Service) tellDecision(r Report) {
	for _, user := range []string{r.By, r.About} {
		if r.SideOf(user) != "" {
			s.pub.ToUser(user, ReportDecided{Report: r, User: user})
		}
	}
}
