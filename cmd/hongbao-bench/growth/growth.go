package growth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/fill"
)

// Side is a server on a database of fill.
type Side struct {
	API   string                                              // address of its server API
	Key   string                                              // of the server API, with all scopes
	Pages func(ctx context.Context) (map[string]int64, error) // how many pages each statement has read so far; nil: that cannot be counted
}

// Cost is what a request takes.
type Cost struct {
	Time      time.Duration // the least of all rounds, as the machine may be busy in some
	Pages     int64         // the least, as what the server does by itself reads some, too
	Statement string        // the one that has read most of these pages
}

// Row is a request in both databases.
type Row struct {
	Name       string
	Scans      bool // it reads many rows, but never more than a bound
	Small, Big Cost
}

// The bounds. A B-tree has one level more when it has a hundred times as many rows, so each search may read one page more. Shorter
// times are not exact.
const (
	mostTimes, exactTime   = 2.0, time.Millisecond
	mostPages, exactNumber = 1.5, 20
	mostScanned            = 1000 // pages of a request that reads up to 10,000 rows
)

// Grows reports whether the request costs more in the large database than it may.
func (r Row) Grows() bool {
	if r.Scans {
		return r.Big.Pages > mostScanned
	}
	return float64(r.Big.Time) > mostTimes*float64(max(r.Small.Time, exactTime)) || float64(r.Big.Pages) > mostPages*float64(max(r.Small.Pages, exactNumber))
}

// Compare plays rounds of all steps on both sides, in turn.
func Compare(ctx context.Context, small, big Side, rounds int, told func(round int)) ([]Row, error) {
	sides := []*player{{Side: small}, {Side: big}}
	for round := range rounds {
		told(round + 1)
		for _, p := range sides {
			if err := p.play(ctx, round); err != nil {
				return nil, err
			}
		}
		slices.Reverse(sides)
	}
	if rounds%2 == 1 {
		slices.Reverse(sides)
	}
	rows := make([]Row, len(steps))
	for i, s := range steps {
		rows[i] = Row{s.name, s.scans, least(sides[0].costs[i]), least(sides[1].costs[i])}
	}
	return rows, nil
}

// least returns the least time and the least number of pages.
func least(all []Cost) Cost {
	fewest, quickest := all[0], all[0].Time
	for _, c := range all {
		quickest = min(quickest, c.Time)
		if c.Pages < fewest.Pages {
			fewest = c
		}
	}
	fewest.Time = quickest
	return fewest
}

// player plays the steps on a side.
type player struct {
	Side
	costs  [][]Cost // by step and round
	values map[string]string
}

func (p *player) play(ctx context.Context, round int) error {
	if p.costs == nil {
		p.costs = make([][]Cost, len(steps))
	}
	p.values = map[string]string{
		"winner": fill.Winner, "joiner": fill.Joiner, "crowd": fill.Crowd, "won": fill.Won, "public": fill.Public, "many": fill.Draw,
		"newcomer": "newcomer", "n": strconv.Itoa(round),
	}
	for i, s := range steps {
		p.values["key"] = fmt.Sprintf("growth-%d-%d", round, i)
		cost, err := p.measure(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		p.costs[i] = append(p.costs[i], cost)
	}
	return nil
}

// measure makes the request of a step.
func (p *player) measure(ctx context.Context, s step) (c Cost, err error) {
	before, err := p.pages(ctx)
	if err != nil {
		return Cost{}, err
	}
	began := time.Now()
	answer, err := p.request(ctx, p.filled(s.call), p.filled(s.body))
	c.Time = time.Since(began)
	if err != nil {
		return Cost{}, err
	}
	after, err := p.pages(ctx)
	if err != nil {
		return Cost{}, err
	}
	most := int64(0)
	for statement, pages := range after {
		read := pages - before[statement]
		if c.Pages += read; read > most {
			most, c.Statement = read, statement
		}
	}
	return c, p.keep(s.keeps, answer)
}

func (p *player) pages(ctx context.Context) (map[string]int64, error) {
	if p.Pages == nil {
		return nil, nil
	}
	return p.Pages(ctx)
}

// filled replaces the names in braces.
func (p *player) filled(text string) string {
	for name, value := range p.values {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

func (p *player) request(ctx context.Context, call, body string) (answer []byte, err error) {
	verb, path, _ := strings.Cut(call, " ")
	r, err := http.NewRequestWithContext(ctx, verb, p.API+"/v1/server/"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+p.Key)
	r.Header.Set("Idempotency-Key", p.values["key"])
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if answer, err = io.ReadAll(response.Body); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.300s", call, response.Status, answer)
	}
	return answer, err
}

// keep stores a value of the answer, as step.keeps says.
func (p *player) keep(what string, answer []byte) error {
	if what == "" {
		return nil
	}
	name, path, _ := strings.Cut(what, "=")
	value := json.RawMessage(answer)
	for field := range strings.SplitSeq(path, ".") {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(value, &fields); err != nil || fields[field] == nil {
			return fmt.Errorf("no %s in the answer %.300s", path, answer)
		}
		value = fields[field]
	}
	p.values[name] = strings.Trim(string(value), `"`)
	return nil
}
