package report

import (
	"fmt"
	"strings"
)

// together is the largest number of lines that can be distinguished in one picture.
const together = 4

// side is the length, in units of the drawing, of the square in which lines are drawn.
const side = 1000

// drawing turns lines into pictures.
type drawing struct {
	lines  Lines
	groups []group
	x, y   scale
	id     string
}

// picture holds lines in the form of the template.
type picture struct {
	Panels []panel
	Level  *Level
	X, Y   string
	Note   string
	Table  Table
}

// panel is one coordinate system.
type panel struct {
	ID, Title string
	Ours      bool
	X, Y      []tick
	Level     *position // from the top
	Curves    []curve
}

// curve is one line: its parts between gaps, and its points if they are few.
type curve struct {
	Name  string
	Color int // 0 is ours, the first of them
	Parts []string
	Dots  []dot
}

// dot is one point with its label.
type dot struct {
	X, Y position
	Says string
}

func (d *drawing) panels() []panel {
	if len(d.lines.Series) <= together {
		p := d.panel(d.id, "")
		first, other := true, 1
		for i, s := range d.lines.Series {
			color := other
			if s.Ours && first {
				color, first = 0, false
			} else {
				other++
			}
			p.Curves = append(p.Curves, d.curve(i, color))
		}
		return []panel{p}
	}
	all := make([]panel, len(d.lines.Series))
	for i, s := range d.lines.Series {
		all[i] = d.panel(fmt.Sprintf("%s-%d", d.id, i+1), s.Name)
		all[i].Ours = s.Ours
		color := 1
		if s.Ours {
			color = 0
		}
		all[i].Curves = []curve{d.curve(i, color)}
	}
	return all
}

func (d *drawing) panel(id, title string) panel {
	p := panel{ID: id, Title: title, X: d.x.axis(d.lines.X.tick()), Y: d.y.axis(d.lines.Y.tick())}
	for i := range p.Y {
		p.Y[i].At = 1 - p.Y[i].At
	}
	if d.lines.Level != nil {
		level := 1 - d.y.at(d.lines.Level.Y)
		p.Level = &level
	}
	return p
}

func (d *drawing) curve(i, color int) curve {
	c := curve{Name: d.lines.Series[i].Name, Color: color}
	var part strings.Builder
	end := func() {
		if part.Len() > 0 {
			c.Parts = append(c.Parts, part.String())
			part.Reset()
		}
	}
	for _, g := range d.groups {
		if !measured(g.means[i]) {
			end()
			continue
		}
		x, y := d.x.at((g.from+g.to)/2), 1-d.y.at(g.means[i])
		if part.Len() > 0 {
			part.WriteByte(' ')
		}
		fmt.Fprintf(&part, "%.0f,%.0f", side*x, side*y)
		says := fmt.Sprintf("%s, %s %s: %s", c.Name, d.lines.X.Name, g.name(d.lines.X.value()), d.lines.Y.value()(g.means[i]))
		c.Dots = append(c.Dots, dot{X: x, Y: y, Says: says})
	}
	end()
	if len(d.groups) > 2*tabulated {
		c.Dots = nil
	}
	return c
}
