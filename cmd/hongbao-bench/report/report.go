package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
)

// Report is what the page says.
type Report struct {
	Title, Subtitle string
	Figures         []Figure // the few that one came for, on top
	Hardware        []Fact
	Command         string // that measures the same again
	Sections        []Section
}

// Figure is one number, large.
type Figure struct {
	Name, Value string
	Note        string  // what to hold it against
	Verdict     Verdict // when there is something to be held
}

// Fact is a thing and what it is.
type Fact struct{ Name, Value string }

// Section is a picture with what there is to say about it.
type Section struct {
	Title string
	Says  string // what one sees, in a sentence or two
	Body  Body
}

// Body is Bars, Latencies, Matrix, Lines, Table, or a Group of sections.
type Body interface {
	show(s *section) error
}

// Group is several pictures of one thing.
type Group []Section

//go:embed page.html charts.html tables.html style.css
var files embed.FS

var page = template.Must(template.ParseFS(files, "*"))

// section is a Section as the template takes it: one of its bodies is there.
type section struct {
	ID, Title, Says string

	Rows   *rows
	Matrix *grid
	Lines  *picture
	Table  *Table
	Parts  []section
}

// Write the page.
func Write(w io.Writer, r Report) error {
	sections, err := show("s", r.Sections)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return page.ExecuteTemplate(w, "page.html", struct {
		Report
		Sections []section
	}{r, sections})
}

// show gives each section an id that begins so.
func show(id string, all []Section) ([]section, error) {
	shown := make([]section, len(all))
	for i, s := range all {
		shown[i] = section{ID: fmt.Sprintf("%s%d", id, i+1), Title: s.Title, Says: s.Says}
		if s.Body == nil {
			continue // words alone
		}
		if err := s.Body.show(&shown[i]); err != nil {
			return nil, fmt.Errorf("%q: %w", s.Title, err)
		}
	}
	return shown, nil
}

func (g Group) show(s *section) (err error) {
	s.Parts, err = show(s.ID+"-", g)
	return err
}
