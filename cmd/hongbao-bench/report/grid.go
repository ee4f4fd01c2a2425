package report

// fitting is the largest number of columns of verdicts that fit side by side.
const fitting = 7

// grid is a Matrix as it is shown.
type grid struct {
	Heads []string
	Rows  []Verdicts
	Brief bool
	Seen  Table
}

// flip turns the rows into columns. Their notes do not fit over columns.
func (g *grid) flip() {
	heads := make([]string, len(g.Rows))
	rows := make([]Verdicts, len(g.Heads))
	for i, name := range g.Heads {
		rows[i] = Verdicts{Name: name, Cells: make([]Cell, len(g.Rows))}
	}
	for at, r := range g.Rows {
		heads[at] = r.Name
		for i, c := range r.Cells {
			rows[i].Cells[at] = c
		}
	}
	g.Heads, g.Rows = heads, rows
}
