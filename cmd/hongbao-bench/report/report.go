package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
)

// Report is the content of the page.
type Report struct {
	Title, Subtitle string
	Figures         []Figure // the main ones, at the top
	Hardware        []Fact
	Command         string // that repeats the measurement
	Sections        []Section
}

// Figure is one number, large.
type Figure struct {
	Name, Value string
	Note        string  // a reference
	Verdict     Verdict // if the figure has one
}

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// Section is a picture with its explanation.
type Section struct {
	Title string
	Says  string // the explanation, in a sentence or two
	Body  Body
}

// Body is Bars, Latencies, Matrix, Lines, Table, or a Group of sections.
type Body interface {
	show(s *section) error
}

// Group is several pictures of one subject.
type Group []Section

//go:embed page.html charts.html tables.html style.css
var files embed.FS

var page = template.Must(template.ParseFS(files, "*"))

// section is a Section in the form of the template: one of its bodies is set.
type section struct {
	ID, Title, Says string

	Rows   *rows
	Matrix *grid
	Lines  *picture
	Table  *Table
	Parts  []section
}

// Write writes the page.
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

// show gives each section an id with this prefix.
func show(id string, all []Section) ([]section, error) {
	shown := make([]section, len(all))
	for i, s := range all {
		shown[i] = section{ID: fmt.Sprintf("%s%d", id, i+1), Title: s.Title, Says: s.Says}
		if s.Body == nil {
			continue // text only
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
