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

// Figure is one number that is shown in large type.
type Figure struct {
	Name, Value string
	Note        string  // a few words beside the number, such as what it is compared with
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

// Body is Bars, Latencies, Matrix or Table.
type Body interface {
	show(s *section) error
}

//go:embed page.html charts.html tables.html style.css
var files embed.FS

var page = template.Must(template.ParseFS(files, "*"))

// section is a Section in the form of the template: one of its bodies is set.
type section struct {
	ID, Title, Says string

	Rows   *rows
	Matrix *grid
	Table  *Table
}

// Write writes the page.
func Write(w io.Writer, r Report) error {
	sections := make([]section, len(r.Sections))
	for i, s := range r.Sections {
		sections[i] = section{ID: fmt.Sprintf("s%d", i+1), Title: s.Title, Says: s.Says}
		if s.Body == nil {
			continue // text only
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
