package report

import "errors"

// Lines shows values over ranks or time. Up to four share one picture; more get one each, all to the same scale.
type Lines struct {
	X, Y   Axis
	Level  *Level // a reference value
	Series []Series
}

// Axis describes one axis.
type Axis struct {
	Name    string
	Seconds bool // the values are seconds, and shown as durations
}

// Level is a reference value that the lines should be near, or stay below.
type Level struct {
	Name string
	Y    float64
}

// Series is one line.
type Series struct {
	Name   string
	Ours   bool
	Points []Point // in the order of X
}

// Point of a line. A NaN Y is a gap.
type Point struct{ X, Y float64 }

// ByPlace returns points for the values of the ranks 1, 2, 3 and so on.
func ByPlace(values []float64) []Point {
	points := make([]Point, len(values))
	for i, v := range values {
		points[i] = Point{X: float64(i + 1), Y: v}
	}
	return points
}

func (a Axis) value() func(float64) string {
	if a.Seconds {
		return duration
	}
	return Amount
}

func (a Axis) tick() func(float64) string {
	if a.Seconds {
		return duration
	}
	return short
}

func (l Lines) show(s *section) error {
	all := l.groups(drawn)
	if len(all) == 0 {
		return errors.New("there are no points")
	}
	d := &drawing{lines: l, groups: all, id: s.ID, x: newSpan(all[0].from, all[len(all)-1].to)}
	var values []float64
	for _, g := range all {
		values = append(values, g.means...)
	}
	if l.Level != nil {
		values = append(values, l.Level.Y)
	}
	d.y = newScale(values)
	s.Lines = &picture{Panels: d.panels(), Level: l.Level, X: l.X.Name, Y: l.Y.Name, Note: d.y.note(), Table: l.table()}
	return nil
}

// table holds the figures of the lines.
func (l Lines) table() Table {
	t := Table{Columns: []Column{{Name: l.X.Name}}}
	for _, s := range l.Series {
		t.Columns = append(t.Columns, Column{Name: s.Name, Number: true})
	}
	for _, g := range l.groups(tabulated) {
		cells := []string{g.name(l.X.value())}
		for _, mean := range g.means {
			cells = append(cells, l.Y.value()(mean))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
