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

// Section is one picture with what there is to say about it.
type Section struct {
	Title string
	Says  string // what one sees, in a sentence or two
	Body  Body
}

// Body is Bars, Latencies, Matrix, Lines or Table.
type Body interface {
	show(s *section) error
}

//go:embed page.html charts.html tables.html style.css
var files embed.FS

var page = template.Must(template.ParseFS(files, "*"))

// section is a Section as the template takes it: one of its bodies is there.
type section struct {
	ID, Title, Says string

	Rows   *rows
	Matrix *Matrix
	Lines  *lines
	Table  *Table
}

// Write the page.
func Write(w io.Writer, r Report) error {
	sections := make([]section, len(r.Sections))
	for i, s := range r.Sections {
		sections[i] = section{ID: fmt.Sprintf("s%d", i+1), Title: s.Title, Says: s.Says}
		if s.Body == nil {
			return fmt.Errorf("report: %q has no body", s.Title)
		}
		if err := s.Body.show(&sections[i]); err != nil {
			return fmt.Errorf("report: %q: %w", s.Title, err)
		}
	}
	return page.ExecuteTemplate(w, "page.html", struct {
		Report
		Sections []section
	}{r, sections})
}
