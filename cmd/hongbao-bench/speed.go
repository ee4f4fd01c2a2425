package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
)

// speed holds the settings of the subcommand that plays this version against an earlier one, in turn.
type speed struct {
	than   string
	rounds int
	budget time.Duration
	worse  float64

	say func(format string, args ...any)
}

// whatUsersSee are the sections whose figures are compared: grabs that are committed, the three answers to a grab, and broadcasts.
var whatUsersSee = []string{"grab", "sockets", "broadcast"}

func speedCommand() command {
	return command{name: "speed", summary: "play this version against an earlier commit, in turn; fails if a figure is worse", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		s := &speed{}
		fs.StringVar(&s.than, "than", "", "commit to compare with; it must be in this repository")
		fs.IntVar(&s.rounds, "rounds", 5, "rounds of each version")
		fs.DurationVar(&s.budget, "budget", time.Second, "time for each side of a match")
		fs.Float64Var(&s.worse, "worse", 0.08, "how much worse a median may be")
		return func(ctx context.Context, p *program) error {
			if s.than == "" || s.rounds < 1 {
				return errors.New("want --than COMMIT, and at least one round")
			}
			s.say = p.say
			return s.run(ctx, p.stdout)
		}
	}}
}

// version is a built version.
type version struct {
	name, dir string
	figures   map[figure][]float64 // the results of the rounds; higher is better
}

// figure is the result of a match of a section.
type figure struct{ section, name string }

func (s *speed) run(ctx context.Context, out io.Writer) (err error) {
	temp, err := os.MkdirTemp("", "hongbao-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	tree := filepath.Join(temp, "tree")
	if _, err := output(ctx, "", "git", "worktree", "add", "--detach", tree, s.than); err != nil {
		return fmt.Errorf("check out %s: %w", s.than, err)
	}
	defer func() {
		_, removed := output(context.WithoutCancel(ctx), "", "git", "worktree", "remove", "--force", tree)
		err = errors.Join(err, removed)
	}()
	than := &version{s.than, filepath.Join(temp, "than"), map[figure][]float64{}}
	this := &version{"this version", filepath.Join(temp, "this"), map[figure][]float64{}}
	for v, source := range map[*version]string{than: tree, this: ""} {
		s.say("building %s", v.name)
		if _, err := output(ctx, source, "go", "build", "-o", v.dir+"/", "./cmd/hongbao", "./cmd/hongbao-bench"); err != nil {
			return err
		}
	}
	if err := s.play(ctx, whatUsersSee, []*version{than, this}); err != nil {
		return err
	}
	slower, err := compareFigures(out, than.figures, this.figures, s.worse)
	if err == nil && len(slower) > 0 { // more rounds: perhaps the machine was busy
		if err := s.play(ctx, sectionsOf(slower), []*version{than, this}); err != nil {
			return err
		}
		slower, err = compareFigures(out, than.figures, this.figures, s.worse)
	}
	if err == nil && len(slower) > 0 {
		err = fmt.Errorf("worse by more than %.0f %%: %s", 100*s.worse, slower)
	}
	return err
}

func sectionsOf(all []figure) (sections []string) {
	for _, f := range all {
		if !slices.Contains(sections, f.section) {
			sections = append(sections, f.section)
		}
	}
	return sections
}

// play plays rounds of the sections. The versions take turns to be the first.
func (s *speed) play(ctx context.Context, sections []string, versions []*version) error {
	for round := range s.rounds {
		for _, section := range sections {
			for _, v := range versions {
				s.say("round %d of %d, %s: %s", round+1, s.rounds, section, v.name)
				if err := s.playOne(ctx, section, v); err != nil {
					return fmt.Errorf("%s: %w", v.name, err)
				}
			}
		}
		slices.Reverse(versions)
	}
	return nil
}

func (s *speed) playOne(ctx context.Context, section string, v *version) error {
	text, err := output(ctx, "", filepath.Join(v.dir, "hongbao-bench"), "engines", "--json", "--rounds", "1", "--budget", s.budget.String(),
		"--only", section, "--hongbao", filepath.Join(v.dir, "hongbao"))
	if err != nil {
		return err
	}
	var results []measure.Result
	if err := json.Unmarshal(text, &results); err != nil {
		return err
	}
	for _, r := range results {
		f := figure{section, r.Name}
		v.figures[f] = append(v.figures[f], r.Ours.Median)
	}
	return nil
}

// output runs a program and returns what it prints. Its messages become part of the error.
func output(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // our own programs, go and git
	cmd.Dir, cmd.Stderr = dir, &said
	text, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), args[0], err, said.Bytes())
	}
	return text, err
}

// compareFigures prints the medians of both versions and their ratio. It returns the figures that are worse by more than this part.
func compareFigures(out io.Writer, than, this map[figure][]float64, worse float64) (slower []figure, err error) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "figure\tbefore\tnow\tnow/before\t") // a tabwriter keeps its first error for Flush
	for _, f := range slices.SortedFunc(maps.Keys(than), func(a, b figure) int { return strings.Compare(a.name, b.name) }) {
		if len(this[f]) == 0 {
			return nil, fmt.Errorf("this version has no figure %q: compare with a later commit", f.name)
		}
		before, now := measure.Median(than[f]), measure.Median(this[f])
		verdict := ""
		if now < before*(1-worse) {
			verdict, slower = "WORSE", append(slower, f)
		}
		_, _ = fmt.Fprintf(t, "%s\t%.0f [%.0f-%.0f]\t%.0f [%.0f-%.0f]\t%.2f\t%s\n", f.name, before, slices.Min(than[f]), slices.Max(than[f]),
			now, slices.Min(this[f]), slices.Max(this[f]), now/before, verdict)
	}
	return slower, t.Flush()
}

func (f figure) String() string { return f.name }
