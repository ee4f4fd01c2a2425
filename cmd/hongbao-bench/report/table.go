package report

import "fmt"

// Table is text in rows and columns. The first column names its row.
type Table struct {
	Columns []Column
	Rows    [][]string
}

// Column of a table.
type Column struct {
	Name   string
	Number bool // aligned to the right
}

func (t Table) show(s *section) error {
	for _, r := range t.Rows {
		if len(r) != len(t.Columns) {
			return fmt.Errorf("a row of %d for %d columns", len(r), len(t.Columns))
		}
	}
	s.Table = &t
	return nil
}
